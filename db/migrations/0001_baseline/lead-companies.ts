/** Names of the counts of a domain's contacts, each with the SQL condition on a row `o` of contact_outreach. */
const COUNTED = {
  people: 'true',
  contacted: 'o.emails_received > 0',
  enrolled: `o.outreach_status = 'enrolled'`,
  replied: 'o.last_replied_at is not null',
  positive: 'o.positive_at is not null',
  meetings: 'o.meeting_at is not null',
  bounced: 'o.bounced_at is not null',
  unsubscribed: 'not o.subscribed',
  fresh: `o.outreach_status = 'fresh'`,
  reachable: `o.outreach_status = 'fresh' and o.verification_status <> 'invalid'`,
};
const NAMES = Object.keys(COUNTED);
const COLUMNS = `organization_id, company_domain, ${NAMES.join(', ')}, last_contacted_at, is_stale`;
const sums = (of: (condition: string) => string) => Object.values(COUNTED).map(of).join(', ');

/**
 * Table and triggers that count the contacts of each company domain. Writers only insert differences, so no writer
 * waits for another. From time to time a writer merges the differences of its organization. The sum over a domain's
 * rows is the correct count in every snapshot.
 */
export const LEAD_COMPANIES = `
create table lead_company_counts (
  organization_id uuid not null references organizations on delete cascade,
  company_domain text not null,
  ${NAMES.map((name) => `${name} integer not null,`).join('\n  ')}
  last_contacted_at timestamptz,
  is_stale boolean not null default false,
  is_folded boolean not null default false
);
comment on table lead_company_counts is 'Counts of contacts per company domain. Writers insert differences; the sum of the rows is the count.';
comment on column lead_company_counts.company_domain is 'Domain of the company. Empty for contacts without a company.';
comment on column lead_company_counts.last_contacted_at is 'The latest value over the rows of a domain is the result. If a row is stale, it must be computed from the contacts.';
create index lead_company_counts_domain on lead_company_counts (organization_id, company_domain);
create index lead_company_counts_new on lead_company_counts (organization_id) where not is_folded;
call heron_guard_rows('lead_company_counts');

-- One statement, so that the removed rows and the contacts are of one moment.
create function heron_fold_lead_companies(workspace uuid) returns void language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock(hashtextextended('lead-companies/' || workspace, 0)) then return; end if;
  with changed as (
    select distinct company_domain from lead_company_counts where organization_id = workspace and not is_folded
  ), taken as (
    delete from lead_company_counts c using changed d where c.organization_id = workspace and c.company_domain = d.company_domain returning c.*
  )
  insert into lead_company_counts (${COLUMNS}, is_folded)
  select t.organization_id, t.company_domain, ${NAMES.map((name) => `t.${name}`).join(', ')},
    case when t.is_stale then (select max(o.last_contacted_at) from contact_outreach o where o.organization_id = workspace and o.company_domain = t.company_domain)
      else t.last_contacted_at end, false, true
  from (
    select organization_id, company_domain, ${NAMES.map((name) => `sum(${name})::int as ${name}`).join(', ')},
      max(last_contacted_at) as last_contacted_at, bool_or(is_stale) as is_stale
    from taken group by 1, 2
  ) t where t.people <> 0;
end $$;

-- Rows of an organization that is being deleted are skipped: its own row is gone already.
create function heron_count_lead_companies() returns trigger language plpgsql as $$
declare workspace uuid;
begin
  if tg_op = 'INSERT' then
    insert into lead_company_counts (${COLUMNS})
    select o.organization_id, o.company_domain, ${sums((condition) => `count(*) filter (where ${condition})`)}, max(o.last_contacted_at), false
    from added o group by 1, 2;
    select organization_id into workspace from added limit 1;
  elsif tg_op = 'DELETE' then
    insert into lead_company_counts (${COLUMNS})
    select o.organization_id, o.company_domain, ${sums((condition) => `-count(*) filter (where ${condition})`)}, null, count(o.last_contacted_at) > 0
    from removed o where exists (select from organizations g where g.id = o.organization_id) group by 1, 2;
    select organization_id into workspace from removed limit 1;
  else
    insert into lead_company_counts (${COLUMNS})
    select o.organization_id, o.company_domain, ${sums((condition) => `coalesce(sum(o.n) filter (where ${condition}), 0)`)},
      max(o.last_contacted_at) filter (where o.n = 1),
      coalesce(max(o.last_contacted_at) filter (where o.n = -1), '-infinity') > coalesce(max(o.last_contacted_at) filter (where o.n = 1), '-infinity')
    from (select a.*, 1 as n from added a union all select r.*, -1 from removed r) o
    where exists (select from organizations g where g.id = o.organization_id)
    group by 1, 2
    having row(${sums((condition) => `coalesce(sum(o.n) filter (where ${condition}), 0)`)}) <> row(${NAMES.map(() => '0').join(', ')})
      or max(o.last_contacted_at) filter (where o.n = 1) is distinct from max(o.last_contacted_at) filter (where o.n = -1);
    select organization_id into workspace from added limit 1;
  end if;
  if random() < 0.01 and (select count(*) from (select from lead_company_counts where organization_id = workspace and not is_folded limit 5000) new) = 5000 then
    perform heron_fold_lead_companies(workspace);
  end if;
  return null;
end $$;
create trigger contact_outreach_counted_added after insert on contact_outreach referencing new table as added
  for each statement execute function heron_count_lead_companies();
create trigger contact_outreach_counted_changed after update on contact_outreach referencing old table as removed new table as added
  for each statement execute function heron_count_lead_companies();
create trigger contact_outreach_counted_removed after delete on contact_outreach referencing old table as removed
  for each statement execute function heron_count_lead_companies();
`;
