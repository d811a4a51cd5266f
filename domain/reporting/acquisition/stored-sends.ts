import { DAY_MS, utcDay } from '../../../lib/clock.ts';
import { GROUP_PLACES, groupsOf } from '../aggregates/groups.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { bindingsOf, inCohort, MATURE, type Cohort, type SendCounts } from './cohort-conditions.ts';
import { KEYS, type Dimension } from './dimensions.ts';

/**
 * Counts confirmed sends and prospects by group from daily counts (`fact_groups`). Each prospect is counted once per
 * group: at its last email in the range, after which the next one is sent only after the range. If the range starts or
 * ends within a day, the emails of that day are read. On the first day `send_groups` contains what is needed. On the
 * last day, a contact is counted if it got no earlier email in the range.
 * @returns undefined if the counts do not suffice: a range without a whole UTC day, groups other than campaigns within
 * one campaign, or incomplete counts of the workspace
 */
export async function countStoredSends(
  ctx: Ctx,
  now: Date,
  cohort: Cohort,
  dimension: Dimension,
): Promise<SendCounts[] | undefined> {
  const ofCampaign = cohort.campaignId !== undefined;
  if (ofCampaign && dimension !== 'all' && dimension !== 'campaign') return undefined;
  const begin = Math.ceil(cohort.from.getTime() / DAY_MS) * DAY_MS;
  const end = Math.floor(cohort.to.getTime() / DAY_MS) * DAY_MS;
  if (begin >= end) return undefined;
  const org = reader(ctx);
  const stale = await org.table('stale_groups').select('organization_id');
  if (stale.length > 0) return undefined;
  const counted = ofCampaign ? 'campaign' : dimension;
  const bindings = bindingsOf(now, cohort);
  // The windows of this day's sends close during the day, so only some of these sends are mature.
  const closing = Math.floor(bindings.matured.getTime() / DAY_MS) * DAY_MS;
  const { key, place, groups } = placed(counted);
  const emails = `send_groups s join send_facts f on f.send_id = s.send_id ${groups}, until u
       where ${inCohort(cohort)} and s.organization_id = :org and s.sent_at >= :from and s.sent_at < :to`;
  const within = (from: string, to: string) =>
    `f.sent_at >= ${from} and f.sent_at < ${to} and s.sent_at >= ${from} and s.sent_at < ${to}`;
  const lastDay = `(u.day::timestamp at time zone 'UTC')`;
  return org.sql<SendCounts>(
    `with until as materialized (
       -- The last day of the range is complete if nothing was sent after the range.
       select case when exists (select from send_facts f where f.organization_id = :org and f.sent_at >= :to) then :endDay::date else :nextDay::date end as day
     ), counted as (
       select ${key('c.key')} as key, sum(c.sends) as confirmed, coalesce(sum(c.sends) filter (where c.day < :closingDay::date), 0) as mature,
         coalesce(sum(c.sends) filter (where c.next_day >= (select day from until)), 0) as prospects
       -- The union lets each half use its own partial index.
       from (select * from fact_groups where is_folded union all select * from fact_groups where not is_folded) c
       where c.organization_id = :org and c.dimension = :dimension and c.day >= :beginDay::date and c.day < (select day from until)
         ${ofCampaign ? 'and c.key = :campaign' : ''}
       group by 1
       union all
       select ${key()}, count(*), count(*) filter (where ${MATURE}), count(*) filter (where s.next_days[${place}] >= u.day)
       from ${emails} and ${within(':from', ':begin')} group by 1
       union all
       -- Constant bounds: with the computed day, the planner would expect a third of all emails.
       select ${key()}, 0, count(*), 0 from ${emails} and ${within(':closing', lastDay)} and ${MATURE} and s.sent_at <= :matured group by 1
       union all
       select e.key, count(*), count(*) filter (where e.is_mature), count(distinct e.contact_id) filter (where not exists (
         select from send_facts b cross join lateral ${groupsOf('b')} g
         where b.contact_id = e.contact_id and b.sent_at >= :from and b.sent_at < e.begins_at and g.dimension = :dimension and g.key is not distinct from e.key))
       from (select ${key()} as key, f.contact_id, ${MATURE} as is_mature, ${lastDay} as begins_at from ${emails} and ${within(lastDay, ':to')}) e group by 1
     )
     select ${dimension === 'all' ? `'all'` : 'key'} as key, sum(confirmed)::int as confirmed, sum(mature)::int as mature, sum(prospects)::int as prospects
     from counted where :org::uuid is not null group by 1 having sum(confirmed) > 0`,
    {
      ...bindings,
      dimension: counted,
      begin: new Date(begin),
      beginDay: utcDay(new Date(begin)),
      endDay: utcDay(new Date(end)),
      nextDay: utcDay(new Date(Math.ceil(cohort.to.getTime() / DAY_MS) * DAY_MS)),
      closing: new Date(Math.max(begin, closing)),
      closingDay: utcDay(new Date(closing)),
    },
  );
}

/**
 * Returns SQL parts for a dimension: the key of an email, the index of the group in `send_groups.next_days`, and the
 * necessary joins.
 */
function placed(dimension: Dimension): { key: (kept?: string) => string; place: string; groups: string } {
  const bytes = (text: string) => `(${text} collate "C")`;
  if (dimension === 'category')
    return {
      key: (kept = 'g.key') => bytes(kept),
      place: 'g.place',
      groups: `join lateral ${groupsOf('f')} g on g.dimension = 'category'`,
    };
  return {
    key: (kept = KEYS[dimension]) => bytes(kept),
    place: String(GROUP_PLACES[dimension]),
    groups: '',
  };
}
