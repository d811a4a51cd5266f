import { json } from '../../../db/connection.ts';
import { MINUTE_MS, utcDay } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import { withCostPath } from '../../../lib/cost-paths.ts';
import type { LaunchReport } from '../../../workflows/campaign/contract.ts';
import type { Launched } from '../../../workflows/enrollment/contract.ts';
import { firstStep } from '../campaign/graph.ts';
import { completeCampaign, pauseCampaign } from '../control/status.ts';
import { hasSender } from '../campaign/sender-pool.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { allocate, type Allocation, type ReservedQuota } from '../allocate.ts';
import { CAMPAIGN_COLUMNS, scheduleOf, type CampaignView } from '../campaign/campaign-view.ts';
import { nextOpening, startOfNextDay } from '../../platform/scheduling/windows.ts';
import { suppressedAmong } from '../../directory/suppression-check.ts';
import { finishEnrollment } from '../control/finish.ts';
import { signalRechecked } from '../control/rechecks.ts';
import { launchEnrollment, signalControl, type EnrollmentRun } from '../control/signals.ts';
import { replayDeadLetter } from '../../platform/dead-letters.ts';
import { readGraph, type Graph } from './snapshot.ts';
import { placeOf, slotReason, stepLabel } from './advance.ts';
import { candidateFor, mailingRefusal, NO_MAILBOX_MS } from './steps.ts';
import { dueLeads, requeueCalled, type Lead } from './due-leads.ts';
import { orderLeads } from './lead-order.ts';
import { entryOf, firstStepStart, freeRunCount, type Entry } from './entry.ts';
import { signalQueues } from './queue.ts';
import { holdWhereElsewhere } from './other-campaigns.ts';
import { readSituation, type Situation } from './situation.ts';
import { message, type Message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';

/** Result of one iteration: a report for the workflow, or `again` if more is due at once. */
export type LaunchIteration = { report: LaunchReport } | { again: true; launched: number };

const BATCH = 100;
/** Maximum number of refused leads reset in one iteration, to limit the time for which the campaign is locked. */
const FREE_PAGE = 1_000;
/** Delay (ms) before rows locked by other transactions, or newly opened workflows, are checked again. */
const BUSY_MS = 500;
/**
 * Delay (ms) before the next check when the maximum number of workflows is open. The open workflows suffice for about a
 * day of emails.
 */
const FULL_MS = 5 * MINUTE_MS;
/** Delay (ms) before a lead without a matching mailbox is tried again. A change of the pool resets it at once. */
const NO_MATCH_MS = 6 * 60 * MINUTE_MS;
/** A workflow overdue by this long (ms) is presumed stuck and is signalled. */
const OVERDUE_MS = 10 * MINUTE_MS;

/**
 * Runs one iteration of a campaign's launcher in one transaction. Signals workflows after edits, launches the next
 * leads as far as slots within the horizon allow, and completes a campaign without leads. Leads have no workflow until
 * their slot is near. Therefore even a campaign with a million leads has only as many open workflows as contacts in
 * progress.
 */
export async function launchDueLeads(ctx: Ctx, campaignId: string): Promise<LaunchIteration> {
  return transact(ctx, async (tx) => {
    const [campaign] = await tx.org.sql<CampaignView>(
      `select ${CAMPAIGN_COLUMNS} from campaigns where organization_id = :org and id = :id for no key update` as `${string}:org${string}`,
      { id: campaignId },
    );
    if (!campaign) return { report: { kind: 'done', why: 'the campaign is gone' } };
    // The launcher is running, so it is no longer blocked.
    if (campaign.blocked_reason) await clearBlock(tx, campaign.id);
    // A pause signals no workflow. A workflow that wakes requests a decision before it acts, and then waits until the
    // campaign resumes.
    if (campaign.status !== 'active') return { report: { kind: 'done', why: `the campaign is ${campaign.status}` } };
    const runs = await signalRechecked(tx, campaign);
    if (runs.left) return runs.signalled > 0 ? AGAIN : waitFor(tx, BUSY_MS, 'runs to signal are locked');
    const situation = await readSituation(tx, campaign, OVERDUE_MS);

    const opening = nextOpening(scheduleOf(campaign), tx.now);
    if (!opening) {
      await pauseCampaign(
        tx,
        campaignId,
        'paused',
        campaign.end_date && campaign.end_date <= tx.now
          ? message('log.end_date_passed')
          : message('log.no_sending_window'),
      );
      return AGAIN;
    }
    if (campaign.sender_strategy === 'explicit' && !(await hasSender(tx.org, campaign))) {
      await pauseCampaign(tx, campaign.id, 'paused_no_accounts', message('log.no_mailbox'));
      return AGAIN;
    }
    if (await resetRefusedLeads(tx, campaign)) return AGAIN;
    if (await orderLeads(tx, campaign)) return AGAIN;
    if (situation.called && (await requeueCalled(tx, campaign))) return AGAIN;
    if (situation.overdue) await signalOverdueRuns(tx, campaign);
    return lookAgainBy(runs.until, await launchBatch(ctx, tx, campaign, situation));
  });
}

const AGAIN: LaunchIteration = { again: true, launched: 0 };

/**
 * Limits a wait of the launcher, so that it checks again at the time `until` for workflows to signal. Null means no
 * limit.
 */
function lookAgainBy(until: Date | null, iteration: LaunchIteration): LaunchIteration {
  if (!until || !('report' in iteration) || iteration.report.kind === 'done') return iteration;
  const wakeAt = Math.min(iteration.report.wakeAt ?? Infinity, until.getTime());
  return { report: { ...iteration.report, wakeAt } };
}

/** Leaves the wait to the workflow, where it occupies no worker of the launchers' queue and a signal can end it. */
function waitFor(tx: Tx, ms: number, why: string, launched = 0): LaunchIteration {
  return { report: { kind: 'wait', wakeAt: tx.now.getTime() + ms, launched, why } };
}

async function clearBlock(tx: Tx, campaignId: string): Promise<void> {
  await tx.org.table('campaigns').where({ id: campaignId }).update({ blocked_reason: null });
  await replayDeadLetter(tx, 'campaign_launch', campaignId);
}

/** Signals overdue workflows and sets the time of the next signal. */
async function signalOverdueRuns(tx: Tx, campaign: CampaignView): Promise<void> {
  const late = new Date(tx.now.getTime() - OVERDUE_MS);
  const runs = await tx.org.sql<EnrollmentRun>(
    `with overdue as (
       select id from enrollments
       where organization_id = :org and campaign_id = :campaign and state = 'active' and waiting_until < :late and not blocked
       order by waiting_until limit :page for update skip locked
     )
     update enrollments e set waiting_until = :now from overdue where e.id = overdue.id returning e.id, e.campaign_id, e.contact_id`,
    { campaign: campaign.id, late, now: tx.now, page: BATCH },
  );
  for (const run of runs) signalControl(tx, run, 'overdue');
}

/**
 * Makes refused leads due at once after an edit, a pause or a change of the pool. Works in pages; returns true if some
 * may remain.
 */
async function resetRefusedLeads(tx: Tx, campaign: CampaignView): Promise<boolean> {
  if (campaign.launch_epoch >= campaign.control_epoch) return false;
  const [freed] = await tx.org.sql<{ n: number }>(
    `with refused as (
       select id from enrollments
       where organization_id = :org and campaign_id = :campaign and state = 'pending' and launch_after > :now
       order by launch_after limit :page for update skip locked
     ), freed as (
       -- The array makes the planner use the primary key, even if it expects many rows.
       update enrollments e set launch_after = 'epoch' where e.id = any(array(select id from refused)) returning 1
     ), counted as materialized (
       select count(*)::int as n from freed
     ), done as (
       update campaigns set launch_epoch = :epoch where organization_id = :org and id = :campaign and (select n from counted) < :page
     )
     select n from counted`,
    { campaign: campaign.id, now: tx.now, epoch: campaign.control_epoch, page: FREE_PAGE },
  );
  return freed!.n === FREE_PAGE;
}

async function launchBatch(ctx: Ctx, tx: Tx, campaign: CampaignView, situation: Situation): Promise<LaunchIteration> {
  const graph = await readGraph(tx, campaign);
  const entry = entryOf(graph);
  const room = ctx.config.LAUNCH_MAX_IN_FLIGHT - situation.firstEmails;
  if (room <= 0) return waitForFreeRun(tx, situation.nextSlot);
  if (!entry.email) return openRuns(tx, campaign, graph, entry, situation);

  const limit = Math.min(room, BATCH);
  const leads = await dueLeads(tx, campaign, entry, { limit, called: situation.called });
  if (leads.length === 0) return waitOrComplete(tx, campaign, entry);
  const open = await endUnmailable(tx, campaign, situation, leads);
  const returned = open.filter((lead) => lead.came_back);
  await launch(tx, campaign, graph, returned);
  const fresh = open.filter((lead) => !lead.came_back);
  if (fresh.length === 0) return { again: true, launched: returned.length };

  const candidates = fresh.map((lead) =>
    candidateFor({ enrollment: lead, contact: lead.contact, run: null, hasSent: false }, graph, entry.email!),
  );
  const limits = {
    horizonMs: ctx.config.LAUNCH_HORIZON_MS,
    ...(campaign.prioritize_new_leads
      ? {}
      : { keepBack: await dueFollowUps(tx, campaign, ctx.config.LAUNCH_HORIZON_MS) }),
  };
  const inEffect = { campaign, settings: situation.settings() };
  const answers = await withCostPath('allocate', () => allocate(tx, inEffect, candidates, limits));
  const ready = fresh.flatMap((lead, index) => {
    const answer = answers[index]!;
    return answer.kind === 'slot' ? [{ ...lead, slot: answer }] : [];
  });
  await launch(tx, campaign, graph, ready);
  const launched = returned.length + ready.length;
  const refusals = fresh.flatMap((lead, index) => {
    const answer = answers[index]!;
    return answer.kind === 'slot' ? [] : [{ lead, answer }];
  });
  // Postpones only contacts whose refusal does not apply to the whole campaign. The others are tried again.
  const own = refusals.filter(({ answer }) => answer.kind === 'never' || answer.concerns === 'contact');
  await postpone(ctx, tx, campaign, own);
  const common = refusals.find(({ answer }) => answer.kind !== 'never' && answer.concerns === 'campaign');
  if (!common) {
    // No due leads are left, so another iteration would find none. With a ramp one more iteration follows, because the
    // ramp level may have just risen.
    if (leads.length < limit && !campaign.ramp_enabled) return waitOrComplete(tx, campaign, entry, launched);
    return { again: true, launched };
  }
  // New leads may not use this quota, so workflows of contacts in progress may use it.
  if (common.answer.kind === 'later' && common.answer.queue?.kind === 'newLeads') await signalQueues(tx, campaign);
  return waitReport(ctx, tx, campaign, common.answer, launched);
}

/** Ends leads who may not be mailed, and holds those that must wait for another campaign. Returns the others. */
async function endUnmailable(
  tx: Tx,
  campaign: CampaignView,
  situation: Situation,
  leads: readonly Lead[],
): Promise<readonly Lead[]> {
  const suppressions = await suppressedAmong(
    tx.org,
    leads.map((lead) => lead.contact.email),
    tx.now,
  );
  const open: Lead[] = [];
  for (const lead of leads) {
    const closed = mailingRefusal(lead.contact, suppressions, { riskyAllowed: campaign.risky_emails });
    if (closed) await finishEnrollment(tx, lead.id, closed.state, { reason: closed.reason, byRun: true });
    else open.push(lead);
  }
  return holdWhereElsewhere(tx, campaign, situation.settings(), open);
}

/** Opens workflows of a campaign that does not begin with an email, up to the number that its emails can use. */
async function openRuns(
  tx: Tx,
  campaign: CampaignView,
  graph: Graph,
  entry: Entry,
  situation: Situation,
): Promise<LaunchIteration> {
  const { room, fresh } = await freeRunCount(tx, campaign, graph, entry);
  if (room <= 0) {
    if (fresh) return waitFor(tx, BUSY_MS, 'the runs that were opened last begin');
    const opening = nextOpening(scheduleOf(campaign), tx.now) ?? tx.now;
    const wakeAt = Math.max(opening.getTime(), tx.now.getTime() + FULL_MS);
    return { report: { kind: 'wait', wakeAt, launched: 0, why: 'as many runs are open as its emails need' } };
  }
  const { called } = situation;
  const due = await dueLeads(tx, campaign, entry, { limit: Math.min(room, BATCH), called });
  if (due.length === 0) return waitOrComplete(tx, campaign, entry);
  const leads = await holdWhereElsewhere(tx, campaign, situation.settings(), due);
  await launch(tx, campaign, graph, leads);
  return waitFor(tx, BUSY_MS, 'the runs that were opened last begin', leads.length);
}

type Refusal = Exclude<Allocation, { kind: 'slot' }>;

/** Stores the retry times of refused leads. */
async function postpone(
  ctx: Ctx,
  tx: Tx,
  campaign: CampaignView,
  refusals: readonly { lead: Lead; answer: Refusal }[],
): Promise<void> {
  if (refusals.length === 0) return;
  await tx.org.sql(
    `update enrollments e set launch_after = t.at from unnest(:ids::uuid[], :at::timestamptz[]) as t(id, at)
     where e.organization_id = :org and e.id = t.id`,
    {
      ids: refusals.map(({ lead }) => lead.id),
      at: refusals.map(({ answer }) => retryTime(ctx, tx, campaign, answer).toISOString()),
    },
  );
}

/**
 * Returns the next retry time of a refused lead. This is half a horizon before the slot, so that the workflow is open
 * in time, but not before the slot's campaign-local day. If the slot is near, its own time is returned.
 */
function retryTime(ctx: Ctx, tx: Tx, campaign: CampaignView, refusal: Refusal): Date {
  const now = tx.now.getTime();
  switch (refusal.kind) {
    case 'later': {
      const at = refusal.at.getTime();
      const early = new Date(
        Math.max(now + 1_000, at > now + ctx.config.LAUNCH_HORIZON_MS / 2 ? at - ctx.config.LAUNCH_HORIZON_MS / 2 : at),
      );
      const dayBegins = startOfNextDay(campaign.timezone, early);
      return dayBegins <= refusal.at ? dayBegins : early;
    }
    case 'hold':
      return new Date(now + (refusal.concerns === 'contact' ? NO_MATCH_MS : NO_MAILBOX_MS));
    case 'never':
      // The campaign ends before the contact's preferred hour. The launcher notices the end itself.
      return campaign.end_date ?? new Date(now + NO_MAILBOX_MS);
  }
}

async function waitReport(
  ctx: Ctx,
  tx: Tx,
  campaign: CampaignView,
  refusal: Refusal,
  launched: number,
): Promise<LaunchIteration> {
  const why = render(refusal.kind === 'later' ? refusal.why : message('wait.no_mailbox'));
  return { report: { kind: 'wait', wakeAt: retryTime(ctx, tx, campaign, refusal).getTime(), launched, why } };
}

/** Waits until the next reserved email is sent. */
function waitForFreeRun(tx: Tx, nextSlot: Date | null): LaunchIteration {
  const now = tx.now.getTime();
  const ms = Math.min(Math.max((nextSlot?.getTime() ?? 0) - now, BUSY_MS), MINUTE_MS);
  return waitFor(tx, ms, 'as many first emails under way as allowed');
}

/**
 * Returns the quota reserved for contacts in progress that need an email today and have no slot yet. New leads do not
 * use this share of the campaign's limit. Contacts that are already due also reserve quota of their conversation's
 * mailbox. Contacts due later today reserve no mailbox quota, because the day may end before their emails are sent. A
 * contact that waits for a reaction to an email is due when that wait ends.
 */
async function dueFollowUps(tx: Tx, campaign: CampaignView, horizonMs: number): Promise<ReservedQuota> {
  const soon = new Date(tx.now.getTime() + horizonMs);
  const rows = await tx.org.sql<{
    mailbox_id: string | null;
    emails: number;
    due: number;
    asks: Date | null;
    full: boolean | null;
  }>(
    `with waiting as (
       select e.mailbox_id, e.waiting_until, case when s.id is null then e.step_started_at + st.wait_after * interval '1 day'
         else e.waiting_until end <= :soon as due
       from enrollments e join campaign_steps st on st.id = e.current_step_id and st.kind = 'email'
         left join sends s on s.enrollment_id = e.id and s.step_id = st.id
       where e.organization_id = :org and e.campaign_id = :campaign and e.state = 'active' and not e.blocked
         and e.waiting_until < :ends and e.waiting_for is not null
         and not exists (select 1 from sends s where s.enrollment_id = e.id and s.state in ('reserved', 'sending'))
       limit :limit
     ), wanted as (
       select mailbox_id, count(*)::int as emails, (count(*) filter (where due))::int as due,
         max(waiting_until) filter (where due) as asks
       from waiting group by mailbox_id
     )
     select w.mailbox_id, w.emails, w.due, w.asks, m.campaign_limit <= w.due + coalesce(d.count, 0) as "full"
     from wanted w left join mailboxes m on m.id = w.mailbox_id
       left join daily_counters d on d.scope_id = m.id and d.scope = 'mailbox' and d.day = :day::date`,
    {
      campaign: campaign.id,
      soon,
      ends: startOfNextDay(campaign.timezone, tx.now),
      limit: campaign.daily_limit,
      day: utcDay(soon),
    },
  );
  const bound = rows.flatMap(({ mailbox_id: id, due, asks, full }) => (id && asks ? [{ id, due, asks, full }] : []));
  return {
    emails: rows.reduce((sum, { emails }) => sum + emails, 0),
    mailboxes: new Map(bound.map(({ id, due }) => [id, due])),
    full: bound.filter(({ full }) => full).map(({ id }) => id),
    until: bound.length === 0 ? Infinity : Math.max(...bound.map(({ asks }) => asks.getTime())),
  };
}

/**
 * Makes leads active and opens their workflows. If the campaign begins with an email, the first decision of a lead with
 * a slot is stored here too, and its workflow gets it with the signal.
 */
async function launch(
  tx: Tx,
  campaign: CampaignView,
  graph: Graph,
  leads: readonly (Lead & { slot?: Extract<Allocation, { kind: 'slot' }> })[],
): Promise<void> {
  if (leads.length === 0) return;
  const step = firstStep(graph.steps);
  const label = step && stepLabel(graph, step);
  const memo = { campaign: campaign.name, ...(label ? { step: render(label) } : {}) };
  const ready = leads.map(({ slot, asked, ...lead }) => ({
    ...lead,
    mailbox_id: slot?.mailboxId ?? lead.mailbox_id,
    decided: slot && label && step.kind === 'email' && !asked ? { slot, step, label } : undefined,
  }));
  const rows = ready.map(({ id, contact_id, mailbox_id, entered_at, decided }) => ({
    id,
    contact_id,
    mailbox_id,
    waiting_until: decided?.slot.at ?? tx.now,
    ...(decided && {
      run_id: newId(),
      send_id: decided.slot.sendId,
      step_id: decided.step.id,
      since: firstStepStart(campaign, decided.step, entered_at, tx.now),
      waiting_for: slotReason(decided.label),
    }),
  }));
  await tx.org.sql(
    `with ready as materialized (
       select * from jsonb_to_recordset(:rows) as t(id uuid, contact_id uuid, mailbox_id uuid, waiting_until timestamptz,
         run_id uuid, send_id uuid, step_id uuid, since timestamptz, waiting_for jsonb)
     ), begun as (
       insert into step_runs (id, organization_id, enrollment_id, campaign_id, contact_id, step_id, seq, kind, state, started_at)
       select run_id, :org, id, :campaign, contact_id, step_id, 1, 'email', 'running', since from ready where run_id is not null
     ), linked as (
       update sends s set step_run_id = r.run_id from ready r where s.organization_id = :org and s.id = r.send_id
     )
     update enrollments e set state = 'active', launched_at = :now, last_activity_at = :now, signalled_epoch = :epoch,
       mailbox_id = r.mailbox_id, waiting_until = r.waiting_until, waiting_for = coalesce(r.waiting_for, e.waiting_for),
       current_step_id = coalesce(r.step_id, e.current_step_id), step_started_at = coalesce(r.since, e.step_started_at),
       hold_since = null, hold_until = null, hold_reason = null, hold_source = null
     from ready r where e.organization_id = :org and e.id = r.id`,
    { now: tx.now, epoch: campaign.control_epoch, campaign: campaign.id, rows: json(rows) },
  );
  for (const { contact_id, decided } of ready) {
    const run = { campaign_id: campaign.id, contact_id };
    launchEnrollment(tx, run, campaign.control_epoch, { memo, slot: decided && slotFor(tx, decided) });
  }
  if (campaign.idle_since) await tx.org.table('campaigns').where({ id: campaign.id }).update({ idle_since: null });
}

/** Returns the decision that a launched lead's workflow gets. */
function slotFor(
  tx: Tx,
  { slot, label }: { slot: Extract<Allocation, { kind: 'slot' }>; label: Message },
): Omit<Launched, 'cause' | 'epoch'> {
  const { sendId, mailboxId, at } = slot;
  return at > tx.now
    ? { sendId, mailboxId, at: at.getTime(), ...placeOf(label, message('wait.has_slot')) }
    : { sendId, mailboxId, at: null, ...placeOf(label, message('wait.sending')) };
}

/**
 * Handles an iteration without due leads: waits for later leads or open workflows, or completes the campaign.
 * @param launched number of due leads launched in this iteration
 */
async function waitOrComplete(
  tx: Tx,
  campaign: CampaignView,
  { waitMs }: Entry,
  launched = 0,
): Promise<LaunchIteration> {
  const [rest] = await tx.org.sql<{ next: Date | null; active: boolean; overdueAt: Date | null }>(
    `select least(
         (select entered_at + :delay * interval '1 minute' + :wait * interval '1 millisecond' from enrollments
          where organization_id = :org and campaign_id = :campaign and state = 'pending' and launch_after = 'epoch' and hold_since is null
          order by entered_at, id limit 1),
         (select launch_after from enrollments
          where organization_id = :org and campaign_id = :campaign and state = 'pending' and launch_after > 'epoch' and hold_since is null
          order by launch_after limit 1),
         (select min(greatest(entered_at + :delay * interval '1 minute' + :wait * interval '1 millisecond', hold_until, launch_after)) from enrollments
          where organization_id = :org and campaign_id = :campaign and state = 'pending' and hold_until is not null)) as next,
       (select id from enrollments where organization_id = :org and campaign_id = :campaign and state = 'active'
        order by waiting_until limit 1) is not null as active,
       (select coalesce(waiting_until, :now) + :overdue * interval '1 millisecond' from enrollments
        where organization_id = :org and campaign_id = :campaign and state = 'active' and not blocked
        order by waiting_until limit 1) as "overdueAt"`,
    {
      delay: campaign.entry_delay_minutes,
      wait: waitMs,
      campaign: campaign.id,
      overdue: OVERDUE_MS,
      now: tx.now,
    },
  );
  const { next, active, overdueAt } = rest!;
  const wait = (at: number | null, why: string): LaunchIteration => ({
    report: { kind: 'wait', wakeAt: at, launched, why },
  });
  if (active) await signalQueues(tx, campaign);
  // A workflow signals the launcher when it ends. The additional check finds stuck workflows, and covers days on which
  // no queued workflow requests a slot. If all open workflows are blocked, a person must resume them.
  const late = overdueAt ? Math.max(overdueAt.getTime(), tx.now.getTime() + OVERDUE_MS) : Infinity;
  const look = active ? Math.min(late, nextOpeningMs(tx, campaign) + OVERDUE_MS) : Infinity;
  if (next) {
    // For leads added before the campaign's start, the wait begins at the start.
    const fromStart = campaign.started_at ? campaign.started_at.getTime() + waitMs : 0;
    const at = Math.max(next.getTime(), fromStart, tx.now.getTime() + 1_000);
    return wait(Math.min(at, look), 'the next lead is due later');
  }
  if (active) return wait(look, 'every lead is under way');
  const became = await completeCampaign(tx, campaign.id);
  if (became === 'busy') return wait(null, 'the leads that are left are held');
  return {
    report: { kind: 'done', why: became === 'idle' ? 'idle until a lead is added' : 'every lead has finished' },
  };
}

/** Returns when the campaign's window opens next, today or later (epoch ms; Infinity for never). */
function nextOpeningMs(tx: Tx, campaign: CampaignView): number {
  const schedule = scheduleOf(campaign);
  const opening = nextOpening(schedule, tx.now);
  const next = opening && opening > tx.now ? opening : nextOpening(schedule, startOfNextDay(campaign.timezone, tx.now));
  return next?.getTime() ?? Infinity;
}
