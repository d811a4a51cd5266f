import { DAY_MS } from '../../../lib/clock.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { STORED_COMPANIES, LEAD_COUNTS, leadCountColumns } from '../../directory/lead-companies.ts';
import { compileLeadQuery, isUnfiltered, LEADS, type LeadQuery } from './query.ts';

/** Numbers of an audience's contacts by outreach status. */
interface LeadCoverage {
  total: number;
  /** Number of contacts that have received at least one campaign email. */
  contacted: number;
  contacted_90d: number;
  /** Number of contacts in a campaign that have not received an email yet. */
  enrolled: number;
  replied: number;
  positive: number;
  meetings: number;
  bounced: number;
  unsubscribed: number;
  fresh: number;
  /** Number of fresh contacts without an invalid or suppressed address. */
  fresh_reachable: number;
  companies: number;
  companies_contacted: number;
  /** Share of contacts with a campaign email, from 0 to 1. Null when no contact matches. */
  contacted_share: number | null;
}

const RECENT_DAYS = 90;
const FRESH = `o.organization_id = :org and o.outreach_status = 'fresh' and o.verification_status <> 'invalid'`;
const LISTED = 'x.organization_id = :org and (x.expires_at is null or x.expires_at > :now)';

/**
 * Counts the matching contacts by their outreach status.
 * @throws AppError invalid_lead_query
 */
export async function measureLeadCoverage(ctx: Ctx, query: LeadQuery): Promise<LeadCoverage> {
  const org = reader(ctx).withoutKeptPlans();
  const now = ctx.clock.now();
  const where = await compileLeadQuery(org, query);
  const since = new Date(now.getTime() - RECENT_DAYS * DAY_MS);
  const matching = `from ${LEADS} where o.organization_id = :org and (${where.all()})` as const;
  const [row] = await org.sql<Omit<LeadCoverage, 'contacted_share'>>(
    `with ${isUnfiltered(query) ? KEPT : freshCountSql(matching)}, suppressed as (
       select count(*)::int as count from (
         select o.contact_id from suppressions x
         join contacts c on c.organization_id = :org and c.email = x.email join contact_outreach o on o.contact_id = c.id
         where ${LISTED} and x.kind = 'email' and ${FRESH} and (${where.all()})
         union
         select o.contact_id from suppressions x
         join contacts c on c.organization_id = :org and split_part(c.email, '@', -1) = x.email join contact_outreach o on o.contact_id = c.id
         where ${LISTED} and x.kind = 'domain' and ${FRESH} and (${where.all()})
       ) listed
     )
     select c.people as total, c.contacted, c.contacted_90d, c.enrolled, c.replied, c.positive, c.meetings, c.bounced, c.unsubscribed, c.fresh,
       c.reachable - s.count as fresh_reachable, k.companies, k.companies_contacted
     from counted c cross join known k cross join suppressed s`,
    { ...where.bindings, since, now },
  );
  return { ...row!, contacted_share: row!.total === 0 ? null : row!.contacted / row!.total };
}

/** SQL of the counts of all contacts. It sums the stored counts of the companies. */
const KEPT = `kept as materialized (${STORED_COMPANIES}), counted as (
       select ${LEAD_COUNTS.map((name) => `coalesce(sum(${name}), 0)::int as ${name}`).join(', ')},
         (select count(*)::int from contact_outreach o
          where o.organization_id = :org and coalesce(o.last_contacted_at, '-infinity'::timestamptz) >= :since) as contacted_90d
       from kept
     ), known as (
       select count(*)::int as companies, (count(*) filter (where contacted > 0))::int as companies_contacted from kept where company_domain <> ''
     )`;

function freshCountSql(matching: string): string {
  return `counted as (
       select ${leadCountColumns()}, count(*) filter (where o.last_contacted_at >= :since)::int as contacted_90d
       ${matching}
     ), known as (
       select count(*)::int as companies, (count(*) filter (where domains.contacted))::int as companies_contacted
       from (select bool_or(o.emails_received > 0) as contacted ${matching} and o.company_domain <> '' group by o.company_domain) domains
     )`;
}
