import { FREE_MAIL_DOMAINS } from '../../../lib/free-mail.ts';

/** Tables for contacts, and for facts about a contact that sending, audience and reports share. */
export const DIRECTORY = String.raw`create table contacts (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  email text not null check (email = lower(email)),
  first_name text not null default '',
  last_name text not null default '',
  company text not null default '',
  phone text not null default '',
  custom_fields jsonb not null default '{}',
  subscribed boolean not null default true,
  unsubscribed_by uuid,
  source text not null default 'api',
  source_detail text not null default '',
  verification_status text not null default 'unknown' check (verification_status in ('valid', 'risky', 'invalid', 'unknown')),
  verification_reason text not null default '',
  is_catch_all boolean not null default false,
  verification_checked_at timestamptz,
  esp_provider text not null default '',
  esp_resolved_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint contacts_email_key unique (organization_id, email)
);
comment on table contacts is 'A person whom an organization can write to, identified by the email address.';
comment on column contacts.email is 'Email address in lower case.';
comment on column contacts.unsubscribed_by is 'The suppression of the address that alone switched "subscribed" off, and whose removal switches it on; null after an opt-out or an edit.';
create index contacts_unsubscribed_by on contacts (unsubscribed_by) where unsubscribed_by is not null;
create index contacts_org on contacts (organization_id, id desc);
create index contacts_org_created on contacts (organization_id, created_at desc, id desc);
create index contacts_org_updated on contacts (organization_id, updated_at desc, id desc);
create index contacts_search on contacts using gin (heron_fold(email || ' ' || first_name || ' ' || last_name || ' ' || company) gin_trgm_ops);
create index contacts_named on contacts (organization_id, (lower(first_name || ' ' || last_name)), id);
create index contacts_company on contacts (organization_id, (lower(company)), id);
create index contacts_domain on contacts (organization_id, (split_part(email, '@', -1)));
call heron_guard_rows('contacts');

create table labels (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  registry text not null check (registry in ('folder', 'tag', 'category')),
  title text not null,
  color text not null,
  position integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table labels is 'A name with a colour. Folders group campaigns, tags group mailboxes, categories group contacts and conversations.';
comment on column labels.color is 'Colour as "#rrggbb".';
comment on column labels.position is 'Position within its kind from 0, without gaps.';
create index labels_org on labels (organization_id, registry, position);
call heron_guard_rows('labels');

create table contact_categories (
  organization_id uuid not null references organizations on delete cascade,
  contact_id uuid not null references contacts on delete cascade,
  label_id uuid not null references labels on delete cascade,
  primary key (contact_id, label_id)
);
comment on table contact_categories is 'A category of a contact.';
create index contact_categories_label on contact_categories (label_id, contact_id);
call heron_guard_rows('contact_categories');

create table segments (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  match text not null default 'all' check (match in ('all', 'any')),
  conditions jsonb not null default '[]',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table segments is 'A saved filter of contacts.';
create index segments_org on segments (organization_id, id desc);
call heron_guard_rows('segments');

create table suppressions (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  email text not null check (email = lower(email)),
  kind text not null check (kind in ('email', 'domain')),
  reason jsonb,
  source text not null check (source in ('bounce', 'complaint', 'unsubscribe', 'manual', 'import')),
  campaign_id uuid,
  metadata jsonb not null default '{}',
  expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint suppressions_value_key unique (organization_id, kind, email)
);
comment on table suppressions is 'An address or domain that the organization does not write to.';
comment on column suppressions.email is 'Email address in lower case, or the bare host if "kind" is domain.';
comment on column suppressions.reason is 'Message: the words of a server or a person, or the cause of the entry. Null if no reason was given.';
create index suppressions_org on suppressions (organization_id, id desc);
create index suppressions_search on suppressions using gin (email gin_trgm_ops);
call heron_guard_rows('suppressions');

create table free_mail_domains (
  domain text primary key
);
comment on table free_mail_domains is 'A domain of a free mail provider, which indicates no company. Written only by migrations.';
insert into free_mail_domains select unnest(string_to_array('${[...FREE_MAIL_DOMAINS].join(',')}', ','));
analyze free_mail_domains;

-- Reads job fields from custom fields of these names, in any case, with spaces or dashes.
-- Otherwise the company is the domain of the address, unless it belongs to a free mail provider.
-- Returns one row, as a set, so that PostgreSQL plans it as a part of the statement instead of calling it for each contact.
create function heron_contact_profile(email text, fields jsonb)
returns table (company_domain text, job_title text, seniority text, department text) language sql stable as $$
  select
    coalesce(
      nullif(regexp_replace(regexp_replace(lower(given.domain), '^([a-z]+://)?(www\.)?', ''), '[/?#:].*$', ''), ''),
      (select '' from free_mail_domains f where f.domain = split_part(email, '@', -1)), split_part(email, '@', -1)),
    coalesce(given.title, ''), coalesce(lower(given.seniority), ''), coalesce(lower(given.department), '')
  from (
    select
      left(coalesce(max(value) filter (where key = 'company_domain'), max(value) filter (where key = 'domain'),
        max(value) filter (where key in ('website', 'company_website'))), 253) as domain,
      left(coalesce(max(value) filter (where key in ('job_title', 'jobtitle')), max(value) filter (where key = 'title'),
        max(value) filter (where key in ('position', 'role'))), 200) as title,
      left(max(value) filter (where key in ('seniority', 'seniority_level')), 100) as seniority,
      left(max(value) filter (where key = 'department'), 100) as department
    from (
      select translate(lower(k), ' -', '__') as key, trim(v) as value from jsonb_each_text(case jsonb_typeof(fields) when 'object' then fields else '{}' end) as e(k, v)
    ) named
    where value <> ''
  ) given
$$;

create table contact_outreach (
  contact_id uuid primary key references contacts on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  company_domain text not null,
  job_title text not null,
  seniority text not null,
  department text not null,
  esp_provider text not null,
  verification_status text not null,
  subscribed boolean not null,
  campaigns integer not null default 0,
  emails_received integer not null default 0,
  last_contacted_at timestamptz,
  last_replied_at timestamptz,
  positive_at timestamptz,
  meeting_at timestamptz,
  bounced_at timestamptz,
  outreach_status text not null generated always as (
    case
      when bounced_at is not null then 'bounced'
      when not subscribed then 'unsubscribed'
      when meeting_at is not null then 'meeting'
      when positive_at is not null then 'positive'
      when last_replied_at is not null then 'replied'
      when emails_received > 0 then 'contacted'
      when campaigns > 0 then 'enrolled'
      else 'fresh' end
  ) stored
) with (fillfactor = 85);
comment on table contact_outreach is 'Job data and outreach history of a contact in one narrow row, kept by triggers. Serves filters and counts of the lead database.';
comment on column contact_outreach.company_domain is 'Domain from the custom fields or the address. Empty if no company is known.';
comment on column contact_outreach.campaigns is 'Number of campaigns that the contact is in.';
comment on column contact_outreach.emails_received is 'Campaign emails that were sent and did not bounce.';
create index contact_outreach_contacted on contact_outreach
  (organization_id, (coalesce(last_contacted_at, '-infinity'::timestamptz)) desc, contact_id desc);
create index contact_outreach_emails on contact_outreach (organization_id, emails_received desc, contact_id desc);
-- Serves counts of companies by index-only scans.
create index contact_outreach_domain on contact_outreach (organization_id, company_domain) include (emails_received);
call heron_guard_rows('contact_outreach');

-- Security definer, because an organization's role may not read free_mail_domains.
create function heron_add_outreach() returns trigger language plpgsql security definer set search_path from current as $$
begin
  insert into contact_outreach
    (contact_id, organization_id, company_domain, job_title, seniority, department, esp_provider, verification_status, subscribed)
  select c.id, c.organization_id, p.company_domain, p.job_title, p.seniority, p.department, c.esp_provider, c.verification_status, c.subscribed
  from added c cross join lateral heron_contact_profile(c.email, c.custom_fields) p;
  return null;
end $$;
create trigger contacts_outreach_added after insert on contacts referencing new table as added
  for each statement execute function heron_add_outreach();

create function heron_change_outreach() returns trigger language plpgsql security definer set search_path from current as $$
begin
  update contact_outreach o set company_domain = p.company_domain, job_title = p.job_title, seniority = p.seniority, department = p.department,
    esp_provider = new.esp_provider, verification_status = new.verification_status, subscribed = new.subscribed
  from heron_contact_profile(new.email, new.custom_fields) p where o.contact_id = new.id;
  return null;
end $$;
create trigger contacts_outreach_changed after update of email, custom_fields, esp_provider, verification_status, subscribed on contacts
  for each row when ((old.email, old.custom_fields, old.esp_provider, old.verification_status, old.subscribed)
    is distinct from (new.email, new.custom_fields, new.esp_provider, new.verification_status, new.subscribed))
  execute function heron_change_outreach();
`;
