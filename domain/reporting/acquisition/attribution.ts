import type { OrgScope } from '../../../db/tenancy.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import {
  creditBindings,
  creditedCustomers,
  MATCH_METHODS,
  WITHOUT_ENGAGEMENT,
  type CustomerFilter,
  type MatchMethod,
} from './credits.ts';
import { ofKnownCampaign } from './cohort.ts';
import { joinsOf, KEYS, namesOf, type Dimension } from './dimensions.ts';
import { acquisitionGoal, primaryGoals } from './primary-goals.ts';
import { attributionSettings, type AttributionSettings } from './settings.ts';

/** Numbers of customers, in total and by the credit given to emails. */
export interface AttributionSummary {
  settings: AttributionSettings;
  /**
   * The goal whose first conversion makes a person a customer. Null if no signup or paid goal is primary; then there
   * are no customers.
   */
  goal: AcquisitionGoal | null;
  customers: number;
  unattributed: number;
  attributed: number;
  withoutEngagement: number;
  matchMethods: Record<MatchMethod, number>;
  corrected: number;
  estimated: number;
  /** Number of changes of people and emails that the report does not include yet. */
  pending: number;
}

export interface AcquisitionGoal {
  id: string;
  name: string;
  kind: string;
}

/** Customers grouped by an attribute of the credited email. */
interface AttributionGroup {
  key: string | null;
  name: string | null;
  customers: number;
  withoutEngagement: number;
  corrected: number;
  /** Number of customers with a colleague who received an email of the group. The other fields do not include them. */
  estimated: number;
}

export type AttributionDimension = Exclude<Dimension, 'all'> | 'match_method';
const MAX_ATTRIBUTION_GROUPS = 100;

/**
 * Returns the number of customers and their credits (GET /acquisition/attribution/summary).
 * @throws AppError not_found for an unknown campaign
 */
export async function readAttributionSummary(ctx: Ctx, asked: CustomerFilter): Promise<AttributionSummary> {
  const org = reader(ctx);
  const filter = await ofKnownCampaign(org, asked);
  const [settings, goal, pending] = await Promise.all([
    attributionSettings(org),
    readAcquisitionGoal(org),
    countPending(org),
  ]);
  const matchMethods = Object.fromEntries(MATCH_METHODS.map((method) => [method, 0])) as Record<MatchMethod, number>;
  const summary = { settings, goal, customers: 0, unattributed: 0, attributed: 0, withoutEngagement: 0, matchMethods };
  if (!goal) return { ...summary, corrected: 0, estimated: 0, pending };
  const bindings = creditBindings(settings, goal.id, filter);
  const [byMethod, estimates] = await Promise.all([
    org.sql<Record<'customers' | 'attributed' | 'bare' | 'corrected', number> & { match_method: MatchMethod }>(
      `select c.match_method, count(*)::int as customers, count(c.send_id)::int as attributed,
         count(*) filter (where c.send_id is not null and ${WITHOUT_ENGAGEMENT})::int as bare, count(*) filter (where c.corrected)::int as corrected
       from ${creditedCustomers(filter)} and :org::uuid is not null group by 1`,
      bindings,
    ),
    org.sql<{ estimated: number }>(
      `select count(*)::int as estimated from ${creditedCustomers({ ...filter, status: 'estimated' })} and :org::uuid is not null`,
      bindings,
    ),
  ]);
  for (const row of byMethod) {
    matchMethods[row.match_method] = row.customers;
    summary.customers += row.customers;
    summary.attributed += row.attributed;
    summary.withoutEngagement += row.bare;
  }
  return {
    ...summary,
    unattributed: summary.customers - summary.attributed,
    corrected: byMethod.reduce((sum, row) => sum + row.corrected, 0),
    estimated: estimates[0]!.estimated,
    pending,
  };
}

/**
 * Groups attributed customers by an attribute of the credited email (GET /acquisition/attribution/breakdown), largest
 * groups first, at most 100.
 * @throws AppError not_found for an unknown campaign
 */
export async function readAttributionBreakdown(
  ctx: Ctx,
  asked: CustomerFilter,
  dimension: AttributionDimension,
): Promise<AttributionGroup[]> {
  const org = reader(ctx);
  const filter = await ofKnownCampaign(org, asked);
  const [settings, goal] = await Promise.all([attributionSettings(org), readAcquisitionGoal(org)]);
  if (!goal) return [];
  const bindings = creditBindings(settings, goal.id, filter);
  const groups = (status: 'attributed' | 'estimated') => {
    const [key, joins] = dimension === 'match_method' ? ['s.match_method', ''] : [KEYS[dimension], joinsOf(dimension)];
    const send = status === 'attributed' ? 'c.send_id' : 'c.estimate_id';
    return org.sql<{ key: string | null; customers: number; bare: number; corrected: number }>(
      `select ${key} as key, count(*)::int as customers, count(*) filter (where s.bare)::int as bare, count(*) filter (where s.corrected)::int as corrected
       from (
         select ${send} as credited_id, c.match_method, c.corrected, ${status === 'attributed' ? WITHOUT_ENGAGEMENT : 'false'} as bare
         from ${creditedCustomers({ ...filter, status })}
       ) s join send_facts f on f.send_id = s.credited_id ${joins} where :org::uuid is not null group by 1`,
      bindings,
    );
  };
  const [attributed, estimated] = await Promise.all([groups('attributed'), groups('estimated')]);
  const byKey = new Map<string | null, AttributionGroup>();
  const groupOf = (key: string | null) => {
    const none = { key, name: null, customers: 0, withoutEngagement: 0, corrected: 0, estimated: 0 };
    return byKey.get(key) ?? byKey.set(key, none).get(key)!;
  };
  for (const row of attributed)
    Object.assign(groupOf(row.key), {
      customers: row.customers,
      withoutEngagement: row.bare,
      corrected: row.corrected,
    });
  for (const row of estimated) groupOf(row.key).estimated = row.customers;
  const rows = [...byKey.values()]
    .sort((a, b) => b.customers - a.customers || b.estimated - a.estimated || ((a.key ?? '') < (b.key ?? '') ? -1 : 1))
    .slice(0, MAX_ATTRIBUTION_GROUPS);
  const names = await namesOf(
    org,
    dimension,
    rows.map(({ key }) => key),
  );
  return rows.map((row) => ({ ...row, name: row.key === null ? null : (names.get(row.key) ?? null) }));
}

/** Returns the goal whose first conversion makes a person a customer, or null if no such goal is primary. */
export async function readAcquisitionGoal(org: OrgScope): Promise<AcquisitionGoal | null> {
  const id = acquisitionGoal(await primaryGoals(org));
  if (!id) return null;
  const [goal] = await org.sql<AcquisitionGoal>(
    'select id, name, kind from goals where organization_id = :org and id = :id',
    { id },
  );
  return goal ?? null;
}

/**
 * Counts events of people and emails that the `keep_facts` subscriber has not applied yet.
 * @param personId counts only events that name this person
 */
export async function countPending(org: OrgScope, personId?: string): Promise<number> {
  const named = personId ? `and e.data -> 'person_ids' @> to_jsonb(:person::text)` : '';
  const [row] = await org.sql<{ pending: number }>(
    `select count(*)::int as pending from domain_events e
     where e.organization_id = :org and e.type = any(:types::text[]) ${named}
       and (e.position is null or e.position > coalesce(
         (select s.position from reaction_streams s where s.organization_id = :org and s.subscriber = 'keep_facts'),
         (select r.position from reaction_subscribers r where r.name = 'keep_facts'), 0))`,
    {
      types: personId ? ['person.changed'] : ['person.changed', 'campaign.email_sent'],
      ...(personId ? { person: personId } : {}),
    },
  );
  return row!.pending;
}
