import type { Tx } from '../platform/kernel/transact.ts';

/**
 * SQL conditions, by count, on a row `o` of contact_outreach. Most counts depend on past events and are not affected by
 * later changes. `enrolled`, `fresh` and `reachable` depend on the current status.
 */
const CONDITIONS = {
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
} as const;
type LeadCount = keyof typeof CONDITIONS;
/** Names of the contact counts that are stored for each company domain. */
export const LEAD_COUNTS = Object.keys(CONDITIONS) as LeadCount[];

/** Columns stored for each company domain: its counts, and the time of the last contact. */
export const COMPANY_MEASURES = [...LEAD_COUNTS, 'last_contacted_at'] as const;

/** Returns SQL columns that count contacts `o`. */
export function leadCountColumns(names: readonly LeadCount[] = LEAD_COUNTS): string {
  return names.map((name) => `(count(*) filter (where ${CONDITIONS[name]}))::int as ${name}`).join(', ');
}

/**
 * SQL for the company domains of an organization with the counts that triggers store. Contacts without a company have
 * the empty domain. If a row is stale, the time of the last contact is computed from the contacts.
 */
export const STORED_COMPANIES = `select k.company_domain, ${LEAD_COUNTS.map((name) => `k.${name}`).join(', ')},
       case when k.is_stale then (select max(o.last_contacted_at) from contact_outreach o where o.organization_id = :org and o.company_domain = k.company_domain)
         else k.last_contacted_at end as last_contacted_at
     from (
       select company_domain, ${LEAD_COUNTS.map((name) => `sum(${name})::int as ${name}`).join(', ')},
         max(last_contacted_at) as last_contacted_at, bool_or(is_stale) as is_stale
       from lead_company_counts where organization_id = :org group by company_domain
     ) k where k.people <> 0`;

/** SQL for the same rows as {@link STORED_COMPANIES}, counted again from contact_outreach. */
export const COUNTED_COMPANIES = `select o.company_domain, ${leadCountColumns()}, max(o.last_contacted_at) as last_contacted_at
     from contact_outreach o where o.organization_id = :org group by 1`;

/** Recounts the contacts of every company domain in one statement. Concurrent changes are added by the triggers. */
export async function recountLeadCompanies(tx: Tx): Promise<void> {
  // Takes the lock of the job that merges count rows, because that job deletes rows.
  await tx.org.lock(`lead-companies/${tx.org.organizationId}`);
  await tx.org.sql(
    `with gone as (delete from lead_company_counts where organization_id = :org)
     insert into lead_company_counts (organization_id, company_domain, ${COMPANY_MEASURES.join(', ')}, is_folded)
     select :org, company_domain, ${COMPANY_MEASURES.join(', ')}, true from (${COUNTED_COMPANIES}) counted`,
  );
}
