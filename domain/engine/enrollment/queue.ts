import { MINUTE_MS } from '../../../lib/clock.ts';
import type { Tx } from '../../kernel/transact.ts';
import { scheduleOf, type CampaignView } from '../campaign/campaign-view.ts';
import { signalControl, type EnrollmentRun } from '../control/signals.ts';
import { dayKey, nextOpening, startOfNextDay } from '../../records/schedule/windows.ts';
import { LIMIT_REACHED, type DailyQueue } from '../sending/allocate.ts';
import type { Snapshot } from './snapshot.ts';

/** Runs ask within this time (ms) of an opening, in the order of the queue. */
const SPREAD_MS = MINUTE_MS;
/** The furthest a run is sent away. */
const MOST_DAYS = 60;

/** An active run that wants to send an email and has no slot; `e` is its row and `st` its step. */
const WANTS_SLOT = `e.state = 'active' and not e.blocked and e.hold_since is null
         and not exists (select 1 from sends s where s.enrollment_id = e.id and s.state in ('reserved', 'sending'))`;

/**
 * When a run that the campaign's daily limit has refused asks again: on the day on which it may be its turn among all runs that are
 * due, one day's emails earlier than its place says, as some of those before it may leave. So every day as many ask as two days send, in
 * the order in which they fell due, and not all that wait.
 */
export async function turnInQueue(
  tx: Tx,
  { campaign, enrollment, run }: Pick<Snapshot, 'campaign' | 'enrollment' | 'run'>,
  stepId: string,
  { from, perDay }: DailyQueue,
): Promise<Date> {
  const [row] = await tx.org.sql<{ ahead: number }>(
    `select count(*)::int as ahead from (
       select from enrollments e join campaign_steps st on st.id = e.current_step_id and st.kind = 'email'
       where e.organization_id = :org and e.campaign_id = :campaign and ${WANTS_SLOT}
         and e.step_started_at <= :now
         and (e.step_started_at + st.wait_after * interval '1 day', e.id) <
           (select cast(:since as timestamptz) + own.wait_after * interval '1 day', cast(:id as uuid) from campaign_steps own where own.id = :step)
       limit :most) ahead`,
    {
      campaign: campaign.id,
      id: enrollment.id,
      step: stepId,
      since: run!.started_at,
      now: tx.now,
      most: perDay * MOST_DAYS,
    },
  );
  const { ahead } = row!;
  const schedule = scheduleOf(campaign);
  let opening = from;
  for (let days = Math.floor(ahead / perDay) - 1; days > 0; days -= 1) {
    const next = nextOpening(schedule, startOfNextDay(campaign.timezone, opening));
    // It is for the run to find that the campaign ends.
    if (!next) break;
    opening = next;
  }
  // Who was refused on the day before comes before who asks there for the first time.
  const place = ((ahead % perDay) + (ahead < perDay ? 0 : perDay)) / (2 * perDay);
  return new Date(opening.getTime() + Math.floor(place * SPREAD_MS));
}

/**
 * Has runs of the queue ask at once that were sent away for days, as far as the day has more room than runs that ask on it: many who were
 * before them have left.
 * @returns how many
 */
export async function callQueue(tx: Tx, campaign: CampaignView): Promise<number> {
  const schedule = scheduleOf(campaign);
  const opening = nextOpening(schedule, tx.now);
  if (!opening) return 0;
  const called = await tx.org.sql<EnrollmentRun>(
    `with room as (
       select :limit::int
         - coalesce((select count from daily_counters where organization_id = :org and scope = 'campaign' and scope_id = :campaign and day = :day::date), 0)
         - (select count(*) from (select from enrollments e where e.organization_id = :org and e.campaign_id = :campaign and e.waiting_until < :ends
             and ${WANTS_SLOT} limit :limit) asking) as emails
     ), next as (
       select id from enrollments
       where organization_id = :org and campaign_id = :campaign and state = 'active' and waiting_until >= :ends
         and not blocked and hold_since is null and waiting_for like :refused
       order by waiting_until limit (select greatest(emails, 0) from room) for update skip locked
     )
     update enrollments e set waiting_until = :now from next where e.id = next.id returning e.campaign_id, e.contact_id`,
    {
      campaign: campaign.id,
      limit: campaign.daily_limit,
      day: dayKey(schedule, opening),
      ends: startOfNextDay(campaign.timezone, opening),
      refused: `%: ${LIMIT_REACHED}`,
      now: tx.now,
    },
  );
  for (const run of called) signalControl(tx, run, 'overdue');
  return called.length;
}
