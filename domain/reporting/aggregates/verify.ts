import { across } from '../../../db/across.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { ACQUISITION_MEASURES, ACQUISITIONS, companyDomains } from './acquisitions.ts';
import { COUNTED_FLOW, FLOW_KEY, STORED_FLOW } from './campaign-flow.ts';
import { COUNTED_GROUPS, GROUPS_OF, STORED_GROUPS } from './groups.ts';

import { COMPANY_MEASURES, COUNTED_COMPANIES, STORED_COMPANIES } from '../../directory/lead-companies.ts';
import { FACT_TABLES, MEASURED, MEASURES, METRICS, MOMENTS, type FactTable } from './metrics.ts';
import { PROSPECT_MEASURES, PROSPECTS } from './prospects.ts';
import { COUNTED_VISITS, IS_VISITED, VISIT_MEASURES, VISITS } from './visits.ts';

/** A stored fact that differs from its source rows. */
interface FactDifference {
  organization_id: string;
  /** Name of the table: `send_facts` or a table of counts. */
  table: string;
  /** Key of the row, as columns and values. */
  key: Record<string, string>;
  /** Stored values by column. Null if there is no row. */
  stored: Record<string, unknown> | null;
  expected: Record<string, unknown> | null;
}

export interface FactsReport {
  organization_id: string;
  emails: number;
  /** Number of unapplied events. Their changes appear as differences. */
  behind: number;
  /** The first differences; `total` counts all of them. */
  differences: FactDifference[];
  total: number;
}

/** Maximum number of listed differences per organization and table. */
const NAMED = 20;
const PAGE = 2_000;
const SUBSCRIBER = 'keep_facts';

/**
 * Recomputes the facts of one organization or of all and lists differences. Facts of emails are compared with the
 * emails and their engagement events, counts with the facts of emails. Outcomes that occurred after the deletion of an
 * email's campaign are not compared.
 */
export async function verifyFacts(deps: Deps, organizationId?: string): Promise<FactsReport[]> {
  const reports: FactsReport[] = [];
  for (const id of await organizations(deps, organizationId)) reports.push(await verifyOne(deps, id));
  return reports;
}

/** Returns the id of the named organization, or those of all. */
export async function organizations(deps: Deps, organizationId: string | undefined): Promise<string[]> {
  const rows = await across(deps.db, 'operator').sql<{ id: string }>(
    'select id from organizations where cast(:id as uuid) is null or id = :id order by id',
    { id: organizationId ?? null },
  );
  return rows.map(({ id }) => id);
}

/** Yields the ids of emails that have facts or should, in pages. */
export async function* pages(deps: Deps, organizationId: string): AsyncGenerator<string[]> {
  const org = reader(systemCtx(deps, organizationId, 'facts/read'));
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const rows = await org.sql<{ id: string }>(
      `select id from sends where organization_id = :org and id > :after and campaign_id is not null and (sent_at is not null or bounced_at is not null)
       order by id limit ${PAGE}`,
      { after },
    );
    if (rows.length > 0) yield rows.map(({ id }) => id);
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
  }
}

/** Yields the ids of people who reached a goal or are recorded as having reached one, in pages. */
export async function* peoplePages(deps: Deps, organizationId: string): AsyncGenerator<string[]> {
  const org = reader(systemCtx(deps, organizationId, 'facts/read'));
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const rows = await org.sql<{ id: string }>(
      `select p.id from people p where p.organization_id = :org and p.id > :after
         and (exists (select 1 from conversions v where v.person_id = p.id) or exists (select 1 from acquisition_facts a where a.person_id = p.id))
       order by p.id limit ${PAGE}`,
      { after },
    );
    if (rows.length > 0) yield rows.map(({ id }) => id);
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.id;
  }
}

async function verifyOne(deps: Deps, organizationId: string): Promise<FactsReport> {
  const report: FactsReport = { organization_id: organizationId, emails: 0, behind: 0, differences: [], total: 0 };
  const ctx = systemCtx(deps, organizationId, 'facts/verify');
  const add = (table: string, rows: Found[], total: number) => {
    report.total += total;
    for (const { key, stored, expected } of rows)
      report.differences.push({ organization_id: organizationId, table, key, ...changedColumns(stored, expected) });
  };
  for await (const ids of pages(deps, organizationId)) {
    report.emails += ids.length;
    const rows = await differingEmails(ctx, ids);
    add('send_facts', rows.slice(0, NAMED), rows.length);
    const prospects = await differingProspects(ctx, ids);
    add('prospect_facts', prospects.slice(0, NAMED), prospects.length);
    const groups = await differingGroups(ctx, ids);
    add('send_groups', groups.slice(0, NAMED), groups.length);
    const visits = await differingVisits(ctx, ids);
    add('visit_facts', visits.slice(0, NAMED), visits.length);
  }
  for await (const ids of peoplePages(deps, organizationId)) {
    const rows = await differingAcquisitions(ctx, ids);
    add('acquisition_facts', rows.slice(0, NAMED), rows.length);
  }
  for (const table of FACT_TABLES) {
    const rows = await differingCounts(ctx, table);
    add(table.name, rows.slice(0, NAMED), rows[0]?.total ?? 0);
  }
  const visitors = await differingVisitors(ctx);
  add('fact_visits', visitors.slice(0, NAMED), visitors.length);
  const grouped = await differingGroupCounts(ctx);
  add('fact_groups', grouped.slice(0, NAMED), grouped.length);
  const companies = await differingCompanies(ctx);
  add('lead_company_counts', companies.slice(0, NAMED), companies.length);
  const flow = await differingFlow(ctx);
  add('campaign_flow_counts', flow.slice(0, NAMED), flow.length);
  const [stream] = await reader(ctx).sql<{ behind: number }>(
    `select count(*)::int as behind from reaction_streams s
     join reaction_subscribers r on r.name = s.subscriber
     join domain_events e on e.organization_id = s.organization_id and e.position > s.position and e.type = any(r.types)
     where s.organization_id = :org and s.subscriber = '${SUBSCRIBER}'`,
  );
  report.behind = stream!.behind;
  return report;
}

interface Found {
  key: Record<string, string>;
  stored: Record<string, unknown> | null;
  expected: Record<string, unknown> | null;
  total: number;
}

type ReadCtx = Parameters<typeof reader>[0];

function differingEmails(ctx: ReadCtx, ids: readonly string[]): Promise<Found[]> {
  const columns = (alias: string) =>
    `case when ${alias}.send_id is not null then jsonb_build_object(${MEASURES.map((column) => `'${column}', ${alias}.${column}`).join(', ')}) end`;
  return reader(ctx).sql<Found>(
    `with wanted as materialized (select unnest(:ids::uuid[]) as id), measured as materialized (${MEASURED})
     select jsonb_build_object('send_id', m.send_id) as key, ${columns('f')} as stored, ${columns('m')} as expected, 0 as total
     from measured m left join send_facts f on f.send_id = m.send_id
     where m.campaign_id is not null
       and (f.send_id is null or (${MEASURES.map((column) => `f.${column}`).join(', ')}) is distinct from (${MEASURES.map((column) => `m.${column}`).join(', ')}))`,
    { ids },
  );
}

/** Returns SQL that selects rows of a table (`stored`) that differ from the expected ones (`now`), as JSON. */
function differing(key: readonly string[], measures: readonly string[]): string {
  const json = (alias: string, columns: readonly string[]) =>
    `jsonb_build_object(${columns.map((column) => `'${column}', ${alias}.${column}`).join(', ')})`;
  return `select ${json('k', key)} as key, case when s.${key[0]} is not null then ${json('s', measures)} end as stored,
       case when n.${key[0]} is not null then ${json('n', measures)} end as expected, 0 as total
     from (select ${key.join(', ')} from stored union select ${key.join(', ')} from now) k
     left join stored s using (${key.join(', ')}) left join now n using (${key.join(', ')})
     where s.${key[0]} is null or n.${key[0]} is null
       or (${measures.map((column) => `s.${column}`).join(', ')}) is distinct from (${measures.map((column) => `n.${column}`).join(', ')})`;
}

function differingProspects(ctx: ReadCtx, sendIds: readonly string[]): Promise<Found[]> {
  return reader(ctx).sql<Found>(
    `with wanted as materialized (select distinct contact_id as id from send_facts where organization_id = :org and send_id = any(:ids::uuid[]) and contact_id is not null),
     now as (${PROSPECTS}), stored as (select f.* from prospect_facts f join wanted w on w.id = f.contact_id where f.organization_id = :org)
     ${differing(['contact_id', 'campaign_id'], PROSPECT_MEASURES)}`,
    { ids: sendIds },
  );
}

async function differingAcquisitions(ctx: ReadCtx, personIds: readonly string[]): Promise<Found[]> {
  const domains = await companyDomains(reader(ctx), personIds);
  return reader(ctx).sql<Found>(
    `with wanted as materialized (select * from unnest(:ids::uuid[], :domains::text[]) as w(id, domain)),
     now as (${ACQUISITIONS}), stored as (select f.* from acquisition_facts f join wanted w on w.id = f.person_id where f.organization_id = :org)
     ${differing(['person_id', 'goal_id'], ACQUISITION_MEASURES)}`,
    { ids: [...domains.keys()], domains: [...domains.values()] },
  );
}

/** Compares visit facts. An email that a person opened but that has no visitor is a difference too. */
function differingVisits(ctx: ReadCtx, sendIds: readonly string[]): Promise<Found[]> {
  return reader(ctx).sql<Found>(
    `with wanted as materialized (select distinct visitor from send_facts where organization_id = :org and send_id = any(:ids::uuid[]) and visitor is not null),
     now as (
       ${VISITS}
       union all select f.send_id, 'clients', '', f.campaign_id, coalesce(f.opened_at, f.clicked_at) from send_facts f
         where f.organization_id = :org and f.send_id = any(:ids::uuid[]) and f.visitor is null and ${IS_VISITED}
     ), stored as (select v.* from visit_facts v join wanted w on w.visitor = v.visitor where v.organization_id = :org)
     ${differing(['visitor', 'part', 'key'], VISIT_MEASURES)}`,
    { ids: sendIds },
  );
}

function differingVisitors(ctx: ReadCtx): Promise<Found[]> {
  return reader(ctx).sql<Found>(
    `with now as (${COUNTED_VISITS}), stored as (select * from fact_visits where organization_id = :org and visitors <> 0)
     ${differing(['campaign_id', 'part', 'key'], ['visitors'])}`,
  );
}

/** Returns the emails for which the stored day of the contact's next email is wrong in any group. */
function differingGroups(ctx: ReadCtx, sendIds: readonly string[]): Promise<Found[]> {
  const json = (at: string, days: string) =>
    `case when ${at} is not null then jsonb_build_object('sent_at', ${at}, 'next_days', ${days}) end`;
  return reader(ctx).sql<Found>(
    `with ${GROUPS_OF}
     select jsonb_build_object('send_id', send_id) as key, ${json('counted_at', 'counted')} as stored, ${json('sent_at', 'next_days')} as expected, 0 as total
     from grouped where :org::uuid is not null and (counted_at is distinct from sent_at or (sent_at is not null and counted is distinct from next_days))`,
    { ids: sendIds },
  );
}

function differingGroupCounts(ctx: ReadCtx): Promise<Found[]> {
  return reader(ctx).sql<Found>(
    `select jsonb_build_object('dimension', dimension, 'key', key, 'day', day, 'next_day', next_day) as key,
       jsonb_build_object('sends', stored) as stored, jsonb_build_object('sends', expected) as expected, 0 as total from (
       select dimension, key, day, next_day, sum(stored)::int as stored, sum(expected)::int as expected from (
         select dimension, key, day, next_day, sends as stored, 0 as expected from (${STORED_GROUPS}) kept
         union all select dimension, key, day, next_day, 0, sends from (${COUNTED_GROUPS}) counted
       ) both_sides group by 1, 2, 3, 4 having sum(stored) <> sum(expected)
     ) differing where :org::uuid is not null`,
  );
}

function differingCompanies(ctx: ReadCtx): Promise<Found[]> {
  return reader(ctx).sql<Found>(
    `with now as (${COUNTED_COMPANIES}), stored as (${STORED_COMPANIES})
     select * from (${differing(['company_domain'], COMPANY_MEASURES)}) found where :org::uuid is not null`,
  );
}

function differingFlow(ctx: ReadCtx): Promise<Found[]> {
  return reader(ctx).sql<Found>(
    `with now as (${COUNTED_FLOW}), stored as (${STORED_FLOW})
     select * from (${differing(FLOW_KEY, ['leads'])}) found where :org::uuid is not null`,
  );
}

/** Compares counts with the facts of the emails. Hourly counts are compared only within REPORT_HOUR_RETENTION_DAYS. */
function differingCounts(ctx: ReadCtx, { name, key }: FactTable): Promise<Found[]> {
  const columns = key.map(([column]) => column);
  const keptDays = ctx.config.REPORT_HOUR_RETENTION_DAYS;
  const isCut = keptDays > 0 && columns.includes('hour');
  const counts = (alias: string) =>
    `jsonb_build_object(${METRICS.map((metric) => `'${metric}', coalesce(${alias}.${metric}, 0)`).join(', ')})`;
  return reader(ctx).sql<Found>(
    `with expected as (
       select ${key.map(([column, from]) => `${from} as ${column}`).join(', ')}, ${SUMS_OF_MOMENTS}
       from send_facts f cross join lateral (${MOMENTS}) m where f.organization_id = :org
       group by ${key.map((_, index) => index + 1).join(', ')}
     ), stored as (select * from ${name} where organization_id = :org)
     select jsonb_build_object(${columns.map((column) => `'${column}', ${column}`).join(', ')}) as key, ${counts('s')} as stored, ${counts('e')} as expected,
       count(*) over ()::int as total
     from stored s full join expected e using (${columns.join(', ')})
     where ${counts('s')} <> ${counts('e')} ${isCut ? 'and hour >= :since' : ''} limit ${NAMED}`,
    isCut ? { since: new Date(ctx.clock.now().getTime() - keptDays * DAY_MS) } : {},
  );
}

/** SQL for the counts of the occurrences `m` as a list of columns. */
export const SUMS_OF_MOMENTS = METRICS.map(
  (metric) => `coalesce(sum(m.count) filter (where m.metric = '${metric}'), 0)::int as ${metric}`,
).join(', ');

/** Returns only the differing columns, because a row has many. */
function changedColumns(
  stored: Found['stored'],
  expected: Found['expected'],
): Pick<FactDifference, 'stored' | 'expected'> {
  if (!stored || !expected) return { stored, expected };
  const names = Object.keys(expected).filter((name) => JSON.stringify(stored[name]) !== JSON.stringify(expected[name]));
  const pick = (from: Record<string, unknown>) => Object.fromEntries(names.map((name) => [name, from[name]]));
  return { stored: pick(stored), expected: pick(expected) };
}
