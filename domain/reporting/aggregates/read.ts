import { DAY_MS, HOUR_MS, utcDay } from '../../../lib/clock.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { METRICS, SUMMED, type Counts } from './metrics.ts';

/** A range of whole hours, UTC. The end is exclusive. */
export interface HourRange {
  from: Date;
  to: Date;
}

/** Extends a range to whole hours: rounds the start down and the end up. */
export function wholeHours({ from, to }: HourRange): HourRange {
  return {
    from: new Date(Math.floor(from.getTime() / HOUR_MS) * HOUR_MS),
    to: new Date(Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS),
  };
}

/** Counts of a campaign or a mailbox. */
type CountsOf = Counts & { id: string };
/** Counts of a UTC day, YYYY-MM-DD. */
type CountsOfDay = Counts & { day: string };

/**
 * Returns the counts of a range by campaign or mailbox. Those without any count are omitted.
 * @param ids limits the result to these ids
 */
export async function sumBy(
  org: OrgScope,
  part: 'campaign' | 'mailbox',
  range: HourRange,
  ids?: readonly string[],
): Promise<CountsOf[]> {
  return org.sql<CountsOf>(
    `with facts as (${factsOf(part)}) select ${part}_id as id, ${SUMMED} from facts
     where :org::uuid is not null ${ids ? `and ${part}_id = any(:ids::uuid[])` : ''} group by 1`,
    { ...bounds(range), ...(ids ? { ids } : {}) },
  );
}

/** Returns the counts of a range by UTC day, for all campaigns or for one. Days without any count are omitted. */
export async function sumByDay(org: OrgScope, range: HourRange, campaignId?: string): Promise<CountsOfDay[]> {
  return org.sql<CountsOfDay>(
    `with facts as (${factsOf('campaign')})
     select to_char(at at time zone 'UTC', 'YYYY-MM-DD') as day, ${SUMMED} from facts
     where :org::uuid is not null ${campaignId ? 'and campaign_id = :campaign' : ''} group by 1 order by 1`,
    { ...bounds(range), ...(campaignId ? { campaign: campaignId } : {}) },
  );
}

/** Returns the total counts of a range. */
export async function sumAll(org: OrgScope, range: HourRange): Promise<Counts> {
  const [row] = await org.sql<Counts>(
    `with facts as (${factsOf('campaign')}) select ${SUMMED} from facts where :org::uuid is not null`,
    bounds(range),
  );
  return row!;
}

/** Returns the hourly counts of one campaign in a range. */
export async function sumByHour(
  org: OrgScope,
  range: HourRange,
  campaignId: string,
): Promise<(Counts & { hour: Date })[]> {
  return org.sql<Counts & { hour: Date }>(
    `select hour, ${METRICS.join(', ')} from fact_campaign_hours
     where organization_id = :org and campaign_id = :campaign and hour >= :from and hour < :to order by hour`,
    { from: range.from, to: range.to, campaign: campaignId },
  );
}

/**
 * Returns SQL for the daily counts of whole days, and the hourly counts before the first and after the last whole day.
 */
function factsOf(part: 'campaign' | 'mailbox'): string {
  const counts = METRICS.join(', ');
  return `select ${part}_id, day::timestamp at time zone 'UTC' as at, ${counts} from fact_${part}_days
       where organization_id = :org and day >= :firstDay::date and day < :endDay::date
     union all
     select ${part}_id, hour, ${counts} from fact_${part}_hours
       where organization_id = :org and hour >= :from and hour < :daysFrom
     union all
     select ${part}_id, hour, ${counts} from fact_${part}_hours
       where organization_id = :org and hour >= :daysTo and hour < :to`;
}

function bounds({ from, to }: HourRange) {
  const first = Math.ceil(from.getTime() / DAY_MS) * DAY_MS;
  const end = Math.floor(to.getTime() / DAY_MS) * DAY_MS;
  // If the range contains no whole day, all of it is read from hourly counts.
  const [daysFrom, daysTo] = first < end ? [new Date(first), new Date(end)] : [to, to];
  return { from, to, daysFrom, daysTo, firstDay: utcDay(daysFrom), endDay: utcDay(daysTo) };
}
