import { MINUTE_MS, utcDay } from '../../../lib/clock.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { scheduleOf, type CampaignView } from '../campaign/campaign-view.ts';
import { signalControl, type EnrollmentRun } from '../control/signals.ts';
import type { Bindings } from '../../../db/statement.ts';
import { rampLevel } from '../../platform/scheduling/ramp.ts';
import { dayKey, nextOpening, startOfNextDay } from '../../platform/scheduling/windows.ts';
import { LIMIT_REACHED, type DailyQueue, type QueueKind } from '../allocate.ts';
import { CAP } from '../seats.ts';
import type { Snapshot } from './snapshot.ts';

/** Period (ms) after the opening of the sending window in which the queued workflows request slots, in queue order. */
const SPREAD_MS = MINUTE_MS;
/** Maximum number of days for which a workflow is postponed. */
const MAX_DAYS = 60;
/** Maximum number of workflows signalled at once. The launcher repeats the call. */
const MAX_SIGNALLED = 1_000;

/** SQL condition: an active enrollment at an email step without a slot. `e` is the enrollment and `st` its step. */
const WANTS_SLOT = `e.state = 'active' and not e.blocked and e.hold_since is null
         and not exists (select 1 from sends s where s.enrollment_id = e.id and s.state in ('reserved', 'sending'))`;

/**
 * SQL conditions of the enrollments in the same queue; `:mailbox` is the mailbox of their conversation. An enrollment
 * has a mailbox from its first slot on.
 */
const IN_QUEUE: Record<QueueKind, string> = {
  campaign: 'true',
  newLeads: 'e.mailbox_id is null',
  mailbox: 'e.mailbox_id = :mailbox',
};

/**
 * Returns the retry time of a workflow refused by a daily limit. The day follows from the workflow's place among all
 * due workflows of the same queue. The workflow requests its slot one day early, because earlier ones may leave the
 * queue. Therefore each day only the workflows for two days' emails make requests, in the order of their due times.
 */
export async function queuedRetryTime(
  tx: Tx,
  { campaign, enrollment, run }: Pick<Snapshot, 'campaign' | 'enrollment' | 'run'>,
  stepId: string,
  { kind, from, perDay }: DailyQueue,
): Promise<Date> {
  const [row] = await tx.org.sql<{ ahead: number }>(
    `select count(*)::int as ahead from (
       select from enrollments e join campaign_steps st on st.id = e.current_step_id and st.kind = 'email'
       where e.organization_id = :org and e.campaign_id = :campaign and ${IN_QUEUE[kind]} and ${WANTS_SLOT}
         and e.step_started_at <= :now
         and (e.step_started_at + st.wait_after * interval '1 day', e.id) <
           (select cast(:since as timestamptz) + own.wait_after * interval '1 day', cast(:id as uuid) from campaign_steps own where own.id = :step)
       limit :most) ahead` as `${string}:org${string}`,
    {
      campaign: campaign.id,
      id: enrollment.id,
      step: stepId,
      since: run!.started_at,
      now: tx.now,
      most: perDay * MAX_DAYS,
      ...(kind === 'mailbox' ? { mailbox: enrollment.mailbox_id } : {}),
    },
  );
  const { ahead } = row!;
  const schedule = scheduleOf(campaign);
  let opening = from;
  for (let days = Math.floor(ahead / perDay) - 1; days > 0; days -= 1) {
    const next = nextOpening(schedule, startOfNextDay(campaign.timezone, opening));
    // The campaign ends before that day. The workflow finds this out at its next request.
    if (!next) break;
    opening = next;
  }
  // Workflows that were refused on the day before request their slots before those that request one for the first time.
  const place = ((ahead % perDay) + (ahead < perDay ? 0 : perDay)) / (2 * perDay);
  return new Date(opening.getTime() + Math.floor(place * SPREAD_MS));
}

/**
 * Signals postponed workflows of the queues when the day has more quota left than expected requests. This happens when
 * many workflows before them no longer need a slot.
 * @returns the number of signalled workflows
 */
export async function signalQueues(tx: Tx, campaign: CampaignView): Promise<number> {
  const opening = nextOpening(scheduleOf(campaign), tx.now);
  if (!opening) return 0;
  const day: CampaignDay = {
    opening,
    key: dayKey(scheduleOf(campaign), opening),
    ends: startOfNextDay(campaign.timezone, opening),
  };
  if (!(await isAnyQueued(tx, campaign, day))) return 0;
  let called = await signalQueuesOfLimits(tx, campaign, day, 'campaign', campaign.daily_limit);
  if (campaign.max_new_leads_per_day > 0)
    called += await signalQueuesOfLimits(tx, campaign, day, 'newLeads', campaign.max_new_leads_per_day);
  return called + (await signalQueuesOfMailboxes(tx, campaign, day));
}

/**
 * Returns true if any enrollment waits for another day because of a limit. Checks all queues in one statement, because
 * most campaigns have none.
 */
async function isAnyQueued(tx: Tx, campaign: CampaignView, { ends }: CampaignDay): Promise<boolean> {
  const refusals = Object.values(LIMIT_REACHED);
  const [row] = await tx.org.sql<{ queued: boolean }>(
    `select exists (select 1 from enrollments e where ${SENT_AWAY} and ${WAITED_FOR} = any(:refusals::text[])) as queued` as `${string}:org${string}`,
    { campaign: campaign.id, ends, refusals },
  );
  return row!.queued;
}

interface CampaignDay {
  opening: Date;
  key: string;
  ends: Date;
}

/** Signals workflows that were refused because of the campaign's daily limit or its new-lead limit. */
async function signalQueuesOfLimits(
  tx: Tx,
  campaign: CampaignView,
  day: CampaignDay,
  kind: 'campaign' | 'newLeads',
  limit: number,
): Promise<number> {
  return signalSelected(
    tx,
    `with room as (
       select :limit::int
         - coalesce((select count from daily_counters where organization_id = :org and scope = :scope and scope_id = :campaign and day = :day::date), 0)
         - (select count(*) from (select from enrollments e where e.organization_id = :org and e.campaign_id = :campaign and e.waiting_until < :ends
             and ${IN_QUEUE[kind]} and ${WANTS_SLOT} limit :limit) asking) as emails
     ), next as (
       select e.id from enrollments e where ${SENT_AWAY} and ${BY_LIMIT}
       order by e.waiting_until limit (select least(greatest(emails, 0), ${MAX_SIGNALLED}) from room) for update skip locked
     )`,
    {
      campaign: campaign.id,
      limit,
      scope: kind === 'newLeads' ? 'campaign_new' : 'campaign',
      day: day.key,
      ends: day.ends,
      refused: LIMIT_REACHED[kind],
      now: tx.now,
    },
  );
}

/** Signals workflows that were refused because of the limit of their conversation's mailbox, for each mailbox. */
async function signalQueuesOfMailboxes(tx: Tx, campaign: CampaignView, day: CampaignDay): Promise<number> {
  const { ramp_start: start, ramp_increment: increment, ramp_ceiling: ceiling, ramp_level: level } = campaign;
  const ramp = {
    enabled: campaign.ramp_enabled,
    start,
    increment,
    ceiling,
    level,
    perMailboxCap: campaign.daily_limit,
  };
  return signalSelected(
    tx,
    `with waiting as (
       select e.id, e.mailbox_id, row_number() over (partition by e.mailbox_id order by e.waiting_until) as place
       from enrollments e where ${SENT_AWAY} and ${BY_LIMIT} and e.mailbox_id is not null
     ), asking as (
       select e.mailbox_id, count(*) as runs from enrollments e
       where e.organization_id = :org and e.campaign_id = :campaign and e.waiting_until < :ends and e.mailbox_id in (select mailbox_id from waiting) and ${WANTS_SLOT}
       group by e.mailbox_id
     ), room as (
       select m.id, least(${CAP} - coalesce((select d.count from daily_counters d where d.scope_id = m.id and d.scope = 'mailbox' and d.day = :utcDay::date), 0),
           :share::int - (select count(*) from sends s where s.campaign_id = :campaign and s.slot_day = :day::date and s.mailbox_id = m.id))
         - coalesce(asking.runs, 0) as emails
       from mailboxes m left join asking on asking.mailbox_id = m.id
       where m.organization_id = :org and m.id in (select mailbox_id from waiting)
     ), next as (
       select e.id from waiting w join room r on r.id = w.mailbox_id join enrollments e on e.id = w.id
       where w.place <= r.emails limit ${MAX_SIGNALLED} for update of e skip locked
     )`,
    {
      campaign: campaign.id,
      share: rampLevel(ramp, 0),
      day: day.key,
      utcDay: utcDay(day.opening),
      ends: day.ends,
      refused: LIMIT_REACHED.mailbox,
      now: tx.now,
    },
  );
}

/** SQL condition: enrollments of the campaign that wait for another day. */
const SENT_AWAY = `e.organization_id = :org and e.campaign_id = :campaign and e.state = 'active' and e.waiting_until >= :ends
         and not e.blocked and e.hold_since is null`;
/** SQL for the code of the reason for which a lead waits at its step. */
const WAITED_FOR = `e.waiting_for #>> '{values,what,code}'`;
/** SQL condition: the enrollment waits because of a limit. */
const BY_LIMIT = `${WAITED_FOR} = :refused`;

/** Signals the workflows of the enrollments that the CTE `next` selects. Returns their number. */
async function signalSelected(tx: Tx, next: string, bindings: Bindings): Promise<number> {
  const called = await tx.org.sql<EnrollmentRun>(
    `${next} update enrollments e set waiting_until = :now from next where e.id = next.id and e.organization_id = :org returning e.campaign_id, e.contact_id`,
    bindings,
  );
  for (const run of called) signalControl(tx, run, 'overdue');
  return called.length;
}
