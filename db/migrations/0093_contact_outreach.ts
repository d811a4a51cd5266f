import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    contacts: 'ShareRowExclusiveLock',
    enrollments: 'ShareRowExclusiveLock',
    organizations: 'ShareRowExclusiveLock',
    send_facts: 'ShareRowExclusiveLock',
  },
  secondsAtMillionRows: 60,
};

/** Where a person writes from who has no company address. */
const FREE_MAIL =
  '^((gmail|googlemail|yahoo|ymail|rocketmail|hotmail|outlook|live|msn|aol|gmx|yandex)\\.[a-z.]+|(icloud|me|mac|mail|email|fastmail|hey|pm|protonmail|tutanota|zoho|qq|163|126|sina|web|freenet|t-online|mailbox|posteo|orange|wanadoo|free|laposte|sfr|libero|virgilio|comcast|att|verizon|sbcglobal|cox|bellsouth|btinternet|seznam|rediffmail|inbox|proton)\\.(com|net|org|de|fr|it|me|ru|cz|lv|in|eu|fm|cn))$';

/**
 * What the workspace knows of a contact's job and has done about the contact, in one narrow row: what the lead database filters, sorts and
 * counts. Triggers keep it, in the transaction of the change, whoever makes it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    `
    -- Reads the fields of a contact's job: from custom fields of these names, in any case and with spaces or dashes; the company's domain otherwise from
    -- the address, unless it is one of a free mail provider.
    create function heron_contact_profile(email text, fields jsonb, out company_domain text, out job_title text, out seniority text, out department text)
    language sql immutable parallel safe as $$
      select
        coalesce(
          nullif(regexp_replace(regexp_replace(lower(given.domain), '^([a-z]+://)?(www\\.)?', ''), '[/?#:].*$', ''), ''),
          case when split_part(email, '@', -1) ~ '${FREE_MAIL}' then '' else split_part(email, '@', -1) end),
        coalesce(given.title, ''), coalesce(lower(given.seniority), ''), coalesce(lower(given.department), '')
      from (
        select
          left(coalesce(max(value) filter (where key = 'company_domain'), max(value) filter (where key = 'domain'),
            max(value) filter (where key in ('website', 'company_website'))), 253) as domain,
          left(coalesce(max(value) filter (where key in ('job_title', 'jobtitle')), max(value) filter (where key = 'title'),
            max(value) filter (where key in ('position', 'role'))), 200) as title,
          left(max(value) filter (where key in ('seniority', 'seniority_level')), 100) as seniority,
          left(max(value) filter (where key = 'department'), 100) as department
        from (select translate(lower(k), ' -', '__') as key, trim(v) as value from jsonb_each_text(case jsonb_typeof(fields) when 'object' then fields else '{}' end) as e(k, v)) named
        where value <> ''
      ) given
    $$;

    create table contact_outreach (
      contact_id uuid primary key references contacts on delete cascade,
      organization_id uuid not null references organizations on delete cascade,
      -- Copies from the contact, so that counts read this table alone.
      company_domain text not null,
      job_title text not null,
      seniority text not null,
      department text not null,
      esp_provider text not null,
      verification_status text not null,
      subscribed boolean not null,
      -- Campaigns the contact is in.
      campaigns integer not null default 0,
      -- Emails of campaigns that left and did not come back.
      emails_received integer not null default 0,
      last_contacted_at timestamptz,
      last_replied_at timestamptz,
      positive_at timestamptz,
      -- No part of this build books meetings yet.
      meeting_at timestamptz,
      bounced_at timestamptz,
      outreach_status text not null generated always as (case
        when not subscribed then 'unsubscribed'
        when bounced_at is not null then 'bounced'
        when meeting_at is not null then 'meeting'
        when positive_at is not null then 'positive'
        when last_replied_at is not null then 'replied'
        when emails_received > 0 then 'contacted'
        when campaigns > 0 then 'enrolled'
        else 'fresh' end) stored
    ) with (fillfactor = 85);

    create function heron_add_outreach() returns trigger language plpgsql as $$
    begin
      insert into contact_outreach
        (contact_id, organization_id, company_domain, job_title, seniority, department, esp_provider, verification_status, subscribed)
      select c.id, c.organization_id, p.company_domain, p.job_title, p.seniority, p.department, c.esp_provider, c.verification_status, c.subscribed
      from added c cross join lateral heron_contact_profile(c.email, c.custom_fields) p;
      return null;
    end $$;

    create function heron_change_outreach() returns trigger language plpgsql as $$
    begin
      update contact_outreach o set company_domain = p.company_domain, job_title = p.job_title, seniority = p.seniority, department = p.department,
        esp_provider = new.esp_provider, verification_status = new.verification_status, subscribed = new.subscribed
      from heron_contact_profile(new.email, new.custom_fields) p where o.contact_id = new.id;
      return null;
    end $$;

    -- Rows are locked in one order, so that two large changes wait for each other instead of failing.
    create function heron_count_outreach_campaigns() returns trigger language plpgsql as $$
    declare step integer := case tg_op when 'INSERT' then 1 else -1 end;
    begin
      with counted as (
        select contact_id, count(*)::int * step as n from changed group by contact_id
      ), held as (
        select contact_id, c.n from contact_outreach o join counted c using (contact_id) order by contact_id for update of o
      )
      update contact_outreach o set campaigns = o.campaigns + h.n from held h where h.contact_id = o.contact_id;
      return null;
    end $$;

    -- The rows are locked before the emails are read, so that of two changes of one contact the second sees the first.
    create function heron_recount_outreach(ids uuid[]) returns void language plpgsql as $$
    begin
      perform from contact_outreach where contact_id = any(ids) order by contact_id for update;
      update contact_outreach o set emails_received = f.received, last_contacted_at = f.contacted, last_replied_at = f.replied,
        positive_at = f.positive, bounced_at = f.bounced
      from (
        select i.id, count(s.sent_at) filter (where s.bounced_at is null)::int as received, max(s.sent_at) filter (where s.bounced_at is null) as contacted,
          max(s.replied_at) as replied, min(s.positive_at) as positive, max(s.bounced_at) as bounced
        from unnest(ids) as i(id) left join send_facts s on s.contact_id = i.id group by i.id
      ) f where f.id = o.contact_id;
    end $$;

    create function heron_recount_outreach_of_sends() returns trigger language plpgsql as $$
    declare ids uuid[];
    begin
      if tg_op = 'UPDATE' then
        select array_agg(distinct v.id) into ids from before b join after a using (send_id) cross join lateral (values (b.contact_id), (a.contact_id)) v(id)
        where v.id is not null and (b.contact_id, b.sent_at, b.bounced_at, b.replied_at, b.positive_at)
          is distinct from (a.contact_id, a.sent_at, a.bounced_at, a.replied_at, a.positive_at);
      elsif tg_op = 'INSERT' then
        select array_agg(distinct contact_id) into ids from after where contact_id is not null;
      else
        select array_agg(distinct contact_id) into ids from before where contact_id is not null;
      end if;
      if ids is not null then perform heron_recount_outreach(ids); end if;
      return null;
    end $$;

    create trigger contacts_outreach_added after insert on contacts referencing new table as added
      for each statement execute function heron_add_outreach();
    create trigger contacts_outreach_changed after update of email, custom_fields, esp_provider, verification_status, subscribed on contacts
      for each row when ((old.email, old.custom_fields, old.esp_provider, old.verification_status, old.subscribed)
        is distinct from (new.email, new.custom_fields, new.esp_provider, new.verification_status, new.subscribed))
      execute function heron_change_outreach();
    create trigger enrollments_outreach_added after insert on enrollments referencing new table as changed
      for each statement execute function heron_count_outreach_campaigns();
    create trigger enrollments_outreach_removed after delete on enrollments referencing old table as changed
      for each statement execute function heron_count_outreach_campaigns();
    create trigger send_facts_outreach_added after insert on send_facts referencing new table as after
      for each statement execute function heron_recount_outreach_of_sends();
    create trigger send_facts_outreach_changed after update on send_facts referencing old table as before new table as after
      for each statement execute function heron_recount_outreach_of_sends();
    create trigger send_facts_outreach_removed after delete on send_facts referencing old table as before
      for each statement execute function heron_recount_outreach_of_sends();

    insert into contact_outreach (contact_id, organization_id, company_domain, job_title, seniority, department, esp_provider, verification_status, subscribed,
      campaigns, emails_received, last_contacted_at, last_replied_at, positive_at, bounced_at)
    select c.id, c.organization_id, p.company_domain, p.job_title, p.seniority, p.department, c.esp_provider, c.verification_status, c.subscribed,
      coalesce(e.n, 0), coalesce(f.received, 0), f.contacted, f.replied, f.positive, f.bounced
    from contacts c cross join lateral heron_contact_profile(c.email, c.custom_fields) p
    left join (select contact_id, count(*)::int as n from enrollments group by 1) e on e.contact_id = c.id
    left join (
      select contact_id, count(sent_at) filter (where bounced_at is null)::int as received, max(sent_at) filter (where bounced_at is null) as contacted,
        max(replied_at) as replied, min(positive_at) as positive, max(bounced_at) as bounced
      from send_facts where contact_id is not null group by 1
    ) f on f.contact_id = c.id;

    create index contact_outreach_contacted on contact_outreach
      (organization_id, (coalesce(last_contacted_at, '-infinity'::timestamptz)) desc, contact_id desc);
    create index contact_outreach_emails on contact_outreach (organization_id, emails_received desc, contact_id desc);
    -- Companies are counted from the index alone.
    create index contact_outreach_domain on contact_outreach (organization_id, company_domain) include (emails_received);
    create index contacts_named on contacts (organization_id, (lower(first_name || ' ' || last_name)), id);
    create index contacts_company on contacts (organization_id, (lower(company)), id);
    create index contacts_domain on contacts (organization_id, (split_part(email, '@', -1)));

    call heron_guard_rows('contact_outreach');
  `.replaceAll('?', '\\?'),
  );
}
