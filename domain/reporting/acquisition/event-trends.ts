import { DAY_MS } from '../../../lib/clock.ts';
import type { Page, PageRequest } from '../../../lib/cursor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { readPeople, type CountedPerson } from './counted-people.ts';
import { eventCondition, type EventFilter } from './occurrences.ts';

export const INTERVALS = ['day', 'week'] as const;
type Interval = (typeof INTERVALS)[number];

/** Number of occurrences of a product event over time. */
interface EventTrend {
  occurrences: number;
  people: number;
  buckets: { start: Date; occurrences: number; people: number }[];
}

/**
 * Returns how often a product event occurred and for how many people, by UTC day or by week from Monday (POST
 * /acquisition/event-trends). Includes empty buckets. The range may cut the first and the last bucket.
 */
export async function readEventTrend(ctx: Ctx, filter: EventFilter, interval: Interval): Promise<EventTrend> {
  const org = reader(ctx);
  const condition = await eventCondition(org, filter, 'e');
  const rows = await org.sql<{ start: Date | null; occurrences: number; people: number }>(
    `select start, count(*)::int as occurrences, count(distinct person)::int as people from (
       select date_trunc('${interval}', e.occurred_at, 'UTC') as start, coalesce(e.person_id, e.contact_id) as person
       from product_events e where ${condition.sql} and :org::uuid is not null
     ) events group by grouping sets ((start), ())`,
    condition.bindings,
  );
  const found = new Map(rows.map((row) => [row.start?.getTime() ?? null, row]));
  const countsAt = (start: Date | null) => {
    const { occurrences, people } = found.get(start?.getTime() ?? null) ?? { occurrences: 0, people: 0 };
    return { occurrences, people };
  };
  return {
    ...countsAt(null),
    buckets: bucketsOf(filter, interval).map((start) => ({ start, ...countsAt(start) })),
  };
}

/**
 * Lists the people that a trend counts, each at the first occurrence (POST /acquisition/event-trends/people). For the
 * people of one bucket, pass its start and end in the filter.
 * @throws AppError bad_request for a bad cursor
 */
export async function listTrendPeople(ctx: Ctx, filter: EventFilter, page: PageRequest): Promise<Page<CountedPerson>> {
  const org = reader(ctx);
  const condition = await eventCondition(org, filter, 'e');
  return readPeople(
    org,
    `select w.id, coalesce(p.contact_id, k.id) as contact_id, w.at from (
       select coalesce(e.person_id, e.contact_id) as id, min(e.occurred_at) as at from product_events e where ${condition.sql} group by 1
     ) w left join people p on p.id = w.id left join contacts k on k.organization_id = :org and k.id = w.id`,
    condition.bindings,
    { list: 'acquisition.trend-people', named: [filter.name, filter.predicates], page },
  );
}

/** Returns the starts of all buckets (days or weeks) that overlap a range. */
function bucketsOf({ from, to }: { from: Date; to: Date }, interval: Interval): Date[] {
  const first = new Date(Math.floor(from.getTime() / DAY_MS) * DAY_MS);
  // A week begins on Monday; Sunday is 0.
  if (interval === 'week') first.setUTCDate(first.getUTCDate() - ((first.getUTCDay() + 6) % 7));
  const buckets: Date[] = [];
  const lengthMs = interval === 'week' ? 7 * DAY_MS : DAY_MS;
  for (let at = first.getTime(); at < to.getTime(); at += lengthMs) buckets.push(new Date(at));
  return buckets;
}
