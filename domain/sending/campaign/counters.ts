import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';

type CounterScope = 'campaign' | 'campaign_new' | 'mailbox' | 'org_campaigns';

/** A change of one daily count. `day` is YYYY-MM-DD in the scope's own time zone. */
export interface CounterChange {
  scope: CounterScope;
  scopeId: string;
  day: string;
  by: number;
}

/**
 * SQL that adds to daily counters. It is a statement, or the last part of one with CTEs. Needs the bindings of {@link
 * countBindings}.
 */
export const COUNT_DAILY = `insert into daily_counters (organization_id, scope, scope_id, day, count)
       select :org, t.scope, t.scope_id, t.day, t.by
       from unnest(:countScopes::text[], :countIds::uuid[], :countDays::date[], :countBy::int[]) as t(scope, scope_id, day, by)
       on conflict (scope_id, scope, day) do update set count = greatest(daily_counters.count + excluded.count, 0)`;

/**
 * Returns the bindings of {@link COUNT_DAILY}. Sums changes of the same counter and sorts the rows, so that writers
 * cannot deadlock.
 */
export function countBindings(changes: readonly CounterChange[]): {
  countScopes: string[];
  countIds: string[];
  countDays: string[];
  countBy: number[];
} {
  const sums = new Map<string, CounterChange>();
  for (const change of changes) {
    const key = `${change.scopeId}/${change.scope}/${change.day}`;
    const seen = sums.get(key);
    if (seen) seen.by += change.by;
    else sums.set(key, { ...change });
  }
  const rows = [...sums]
    .filter(([, change]) => change.by !== 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, change]) => change);
  return {
    countScopes: rows.map((row) => row.scope),
    countIds: rows.map((row) => row.scopeId),
    countDays: rows.map((row) => row.day),
    countBy: rows.map((row) => row.by),
  };
}

/** Adds changes to daily counters. */
export async function countDaily(org: OrgScope, changes: readonly CounterChange[]): Promise<void> {
  const bindings = countBindings(changes);
  if (bindings.countIds.length > 0) await org.sql(COUNT_DAILY, bindings);
}

/** Reads several daily counts at once, keyed `scope/id/day`. Absent counts are 0. */
export async function readCounters(
  org: OrgScope,
  scopeIds: readonly string[],
  days: readonly string[],
): Promise<Map<string, number>> {
  const rows = await org.sql<Columns<'daily_counters', 'scope' | 'scope_id' | 'day' | 'count'>>(
    `select scope, scope_id, day, count from daily_counters
     where organization_id = :org and scope_id = any(:ids::uuid[]) and day = any(:days::date[])`,
    { ids: scopeIds, days },
  );
  return new Map(rows.map((row) => [`${row.scope}/${row.scope_id}/${row.day}`, row.count]));
}
