import { isDeepStrictEqual } from 'node:util';
import { json } from '../../../db/connection.ts';
import { newId } from '../../../lib/ids.ts';
import type { Decision } from '../../../workflows/enrollment/contract.ts';
import { DAY_MS } from '../../../lib/clock.ts';
import { branchesInSuspense, firstStep, matchingBranch, type Facts, type Outcome } from '../campaign/graph.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { releaseReservedSends } from '../control/release.ts';
import { finishEnrollment, type FinalState } from '../control/finish.ts';
import { endWait } from '../control/waits.ts';
import {
  readGraph,
  latestEmail,
  readSnapshot,
  sendOf,
  type EngineStep,
  type EnrollmentColumn,
  type EnrollmentKey,
  type Graph,
  type Snapshot,
  type StepRun,
} from './snapshot.ts';
import { firstStepStart } from './entry.ts';
import { repeatUncertainEmail, executeStep, type Verdict } from './steps.ts';
import { message, type Message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';

/**
 * Maximum number of steps in one decision. A longer path means a cycle, which the API refuses when a campaign is saved.
 */
const MAX_HOPS = 100;
/**
 * Interval (ms) at which a contact who may have asked to stop the emails is checked again, because the signal about the
 * decision may be lost.
 */
const LOOK_AGAIN_MS = DAY_MS;
/** Maximum duration (ms) of an app call, retries included. Longer calls are reported as stuck. */
const CALL_MS = 15 * 60_000;

/**
/**
 * Takes all steps of a contact that are possible now and returns the next action of its workflow. Locks the enrollment,
 * so that replies, events and pauses wait for this decision. An email claimed by a worker is settled first, even if the
 * contact is held or has left the campaign, because the worker may have crashed.
 */
export async function advanceEnrollment(ctx: Ctx, key: EnrollmentKey): Promise<Decision> {
  return transact(ctx, async (tx) => {
    const snapshot = await readSnapshot(tx, key);
    if (!snapshot) return { kind: 'done', outcome: 'deleted' };
    const { enrollment, campaign } = snapshot;
    const claimed = snapshot.sends.find(({ state }) => state === 'sending');
    if (claimed) {
      const { id: sendId, mailbox_id: mailboxId } = claimed;
      return { kind: 'send', sendId, mailboxId, where: render(message('wait.sending')), step: null };
    }
    if (enrollment.state !== 'pending' && enrollment.state !== 'active')
      return { kind: 'done', outcome: enrollment.state };
    if (campaign.status !== 'active') return storeHold(tx, snapshot, message('wait.campaign_paused'), null);
    if (enrollment.hold_since) {
      if (!enrollment.hold_until || enrollment.hold_until > tx.now)
        return storeHold(tx, snapshot, message('wait.held'), enrollment.hold_until);
      Object.assign(snapshot.changes, { hold_since: null, hold_until: null, hold_reason: null, hold_source: null });
    }
    if (snapshot.asked)
      return storeHold(tx, snapshot, message('wait.opt_out_asked'), new Date(tx.now.getTime() + LOOK_AGAIN_MS));
    if (enrollment.state === 'pending') {
      Object.assign(snapshot.changes, { state: 'active', launched_at: tx.now, last_activity_at: tx.now });
      enrollment.launched_at = tx.now;
    }
    const decision = await walk(tx, snapshot, await readGraph(tx, campaign));
    await store(tx, snapshot);
    return decision;
  });
}

/**
 * Writes the collected changes of the decision in one statement. Call it before the decision reads the enrollment or
 * its step run again, and before it ends the enrollment.
 */
async function store(tx: Tx, snapshot: Snapshot): Promise<void> {
  const { enrollment, changes, entered } = snapshot;
  const columns = Object.keys(changes).sort() as EnrollmentColumn[];
  if (columns.length === 0 && !entered) return;
  snapshot.changes = {};
  snapshot.entered = null;
  const begun =
    entered &&
    `begun as (
       insert into step_runs (id, organization_id, enrollment_id, campaign_id, contact_id, step_id, seq, kind, state, output_key, started_at)
       values (:run, :org, :enrollment, :campaign, :contact, :step, :seq, :kind, 'running', :key, :since)
     ), linked as (
       -- The launcher reserves the first email before the run exists. A lead can also reach a step a second time.
       update sends set step_run_id = :run where organization_id = :org and enrollment_id = :enrollment and step_id = :step and step_run_id is null
     )`;
  const text = `${begun ? `with ${begun}` : ''} update enrollments set ${columns.map((column) => `${column} = :${column}`).join(', ')} where organization_id = :org and id = :enrollment`;
  await tx.org.sql(text as `${string}:org${string}`, {
    ...(changes as Record<string, never>),
    enrollment: enrollment.id,
    campaign: enrollment.campaign_id,
    contact: enrollment.contact_id,
    ...(entered
      ? {
          run: entered.id,
          step: entered.step_id,
          seq: entered.seq,
          kind: entered.kind,
          key: entered.output_key,
          since: entered.started_at,
        }
      : {}),
  });
}

async function walk(tx: Tx, snapshot: Snapshot, graph: Graph): Promise<Decision> {
  const repeat = await resendUncertain(tx, snapshot, graph);
  if (repeat) return repeat;
  for (let hops = 0; hops < MAX_HOPS; hops += 1) {
    const { run } = snapshot;
    if (run?.state === 'failed')
      return finish(tx, snapshot, 'failed', message('ended.step_failed', { outcome: run.outcome ?? 'failed' }));
    // The enrollment ended during this step, for example because of a meeting. The enrollment was reopened only to
    // resend an uncertain email.
    if (run?.state === 'skipped' && run.outcome !== 'skipped')
      return finish(tx, snapshot, run.outcome as FinalState, message('ended.before'));
    if (run && !isOver(run) && graph.removed.has(run.step_id)) await leaveRemovedStep(tx, snapshot);
    const onward: NextStep =
      run === null
        ? begin(tx, snapshot, graph)
        : isOver(run)
          ? nextAfter(tx, snapshot, graph, run)
          : { step: graph.steps.find(({ id }) => id === run.step_id) ?? null, since: tx.now };
    if ('until' in onward) {
      const why = message('wait.for_outcome');
      return storeDecision(tx, snapshot, stepLabel(graph, onward.at), { kind: 'wait', until: onward.until, why });
    }
    const { step } = onward;
    if (step === null) return finish(tx, snapshot, 'completed');
    if (run === null || isOver(run)) enter(snapshot, step, onward.since);
    if (step.kind !== 'email' && snapshot.send?.state === 'reserved') await releaseUnusedSlot(tx, snapshot);
    // Steps other than emails read or write their step run, so it must exist.
    if (step.kind !== 'email') await store(tx, snapshot);
    if (snapshot.wait && step.action?.type !== 'wait_for_event') await endStaleWait(tx, snapshot);
    const verdict = await executeStep(tx, snapshot, graph, step);
    if (verdict.kind === 'passed') {
      await store(tx, snapshot);
      await leave(tx, snapshot, verdict);
      continue;
    }
    if (verdict.kind === 'finished') return finish(tx, snapshot, verdict.state, verdict.reason);
    return storeDecision(tx, snapshot, stepLabel(graph, step), verdict);
  }
  throw new Error(`enrollment ${snapshot.enrollment.id} passed ${MAX_HOPS} steps without waiting`);
}

/** Sends an uncertain email again at a person's request, before the contact's current step. */
async function resendUncertain(tx: Tx, snapshot: Snapshot, graph: Graph): Promise<Decision | undefined> {
  const send = snapshot.sends.find(({ again, state }) => again && state !== 'sent' && state !== 'bounced');
  const step = send && graph.steps.find(({ id, kind }) => id === send.step_id && kind === 'email');
  if (!send || !step) return undefined;
  const verdict = await repeatUncertainEmail(tx, snapshot, graph, step, send);
  if (verdict.kind === 'finished') return finish(tx, snapshot, verdict.state, verdict.reason);
  return verdict.kind === 'passed'
    ? undefined
    : storeDecision(tx, snapshot, message('step.again', { step: stepLabel(graph, step) }), verdict);
}

async function finish(tx: Tx, snapshot: Snapshot, state: FinalState, reason?: Message): Promise<Decision> {
  await store(tx, snapshot);
  const { run, sends, enrollment } = snapshot;
  const nothingOpen = (run === null || isOver(run)) && !sends.some((send) => send.state === 'reserved');
  await finishEnrollment(tx, enrollment.id, state, {
    ...(reason ? { reason } : {}),
    byRun: true,
    ...(nothingOpen ? { nothingOpenIn: enrollment.campaign_id } : {}),
  });
  return { kind: 'done', outcome: state };
}

function isOver(run: StepRun): boolean {
  return run.state === 'completed' || run.state === 'skipped';
}

/** Returns the first step. */
function begin(tx: Tx, { campaign, enrollment }: Snapshot, graph: Graph): NextStep {
  const step = firstStep(graph.steps);
  return { step, since: step ? firstStepStart(campaign, step, enrollment.entered_at, tx.now) : tx.now };
}

/** The next step and the start of its wait, or the time until which the next step stays undecided. */
type NextStep = { step: EngineStep | null; since: Date } | { at: EngineStep; until: Date };

/**
 * Returns the step after a finished step. For a removed step, returns the step that normally followed it. A branch that
 * depends on a reaction to an email is chosen when its target step is due, `wait_after` days after the finished step.
 * Until then the recipient may open, click or reply. A branch that ends the flow, or the absence of a matching branch,
 * is final once the last possible next step is due.
 */
function nextAfter(tx: Tx, snapshot: Snapshot, graph: Graph, run: StepRun): NextStep {
  const finished = graph.steps.find(({ id }) => id === run.step_id);
  if (!finished) return { step: stepAt(graph, graph.removed.get(run.step_id)), since: tx.now };
  const facts = factsOf(snapshot, run);
  const chosen = stepAt(graph, matchingBranch(finished, facts)?.to);
  // If no email was sent, no reactions can follow.
  const suspense = latestEmail(snapshot) ? branchesInSuspense(finished, facts) : [];
  const left = run.completed_at ?? run.started_at;
  if (suspense.length === 0) return { step: chosen, since: finished.action?.type === 'wait' ? left : tx.now };
  const dueAt = (step: EngineStep): number => left.getTime() + step.wait_after * DAY_MS;
  const dues = suspense.flatMap(({ to }) => stepAt(graph, to) ?? []).map(dueAt);
  const now = tx.now.getTime();
  if ((chosen ? dueAt(chosen) : Math.max(now, ...dues)) > now)
    return { at: finished, until: new Date(Math.min(...dues.filter((due) => due > now))) };
  // For an email step the days count from the finished step. Other steps begin now.
  return { step: chosen, since: chosen?.kind === 'email' ? left : tx.now };
}

/** Returns the step with an id. For a removed step, follows the links of removed steps to the next existing one. */
function stepAt(graph: Graph, to: string | null | undefined): EngineStep | null {
  for (let hops = 0; to && graph.removed.has(to) && hops < graph.removed.size; hops += 1) to = graph.removed.get(to);
  return graph.steps.find(({ id }) => id === to) ?? null;
}

/** Ends the step run of a step that was removed while the contact was at it. */
async function leaveRemovedStep(tx: Tx, snapshot: Snapshot): Promise<void> {
  if (snapshot.send?.state === 'reserved') await releaseUnusedSlot(tx, snapshot);
  await endWait(tx, snapshot.run!.id);
  await leave(tx, snapshot, { kind: 'passed', outcome: 'skipped' });
}

/** Ends the wait of a step that was edited and no longer waits for an event. */
async function endStaleWait(tx: Tx, snapshot: Snapshot): Promise<void> {
  const run = snapshot.run!;
  await endWait(tx, run.id);
  snapshot.wait = null;
  if (run.state !== 'waiting') return;
  await tx.org.table('step_runs').where({ id: run.id }).update({ state: 'running' });
  run.state = 'running';
}

function factsOf(snapshot: Snapshot, run: StepRun): Facts {
  const { contact, enrollment, wait } = snapshot;
  const email = latestEmail(snapshot);
  return {
    outcome: (run.outcome ?? 'done') as Outcome,
    opened: email?.opened_at != null,
    clicked: email?.clicked_at != null,
    replied: email?.replied_at != null,
    contact: { ...contact },
    app: enrollment.app_values,
    event: wait?.event_data ?? null,
  };
}

function enter(snapshot: Snapshot, step: EngineStep, since: Date): void {
  const run: StepRun = {
    id: newId(),
    step_id: step.id,
    seq: (snapshot.run?.seq ?? 0) + 1,
    kind: step.action?.type ?? step.kind,
    state: 'running',
    outcome: null,
    attempts: 0,
    output_key: step.action && 'output_key' in step.action ? (step.action.output_key ?? null) : null,
    output: null,
    started_at: since,
    completed_at: null,
    called_at: null,
  };
  snapshot.run = run;
  snapshot.entered = run;
  snapshot.send = sendOf(snapshot.sends, step.id);
  snapshot.wait = null;
  snapshot.changes.current_step_id = step.id;
  snapshot.changes.step_started_at = since;
}

async function leave(tx: Tx, snapshot: Snapshot, verdict: Extract<Verdict, { kind: 'passed' }>): Promise<void> {
  const run = snapshot.run!;
  const { enrollment } = snapshot;
  run.state = verdict.outcome === 'skipped' ? 'skipped' : 'completed';
  run.outcome = verdict.outcome;
  run.completed_at = verdict.at ?? tx.now;
  await tx.org
    .table('step_runs')
    .where({ id: run.id })
    .whereNotIn('state', ['completed', 'skipped'])
    .update({
      state: run.state,
      outcome: run.outcome,
      completed_at: run.completed_at,
      // Clears an earlier error, such as an app that did not respond before the step was edited.
      ...(run.state === 'completed' ? { detail: null, error: null } : {}),
      ...(verdict.output ? { output: JSON.stringify(verdict.output) } : {}),
    });
  if (verdict.output && run.output_key) {
    enrollment.app_values = { ...enrollment.app_values, [run.output_key]: verdict.output };
    snapshot.changes.app_values = JSON.stringify(enrollment.app_values);
  }
}

/** Releases the slot of a step that was an email when the slot was reserved and has been edited since. */
async function releaseUnusedSlot(tx: Tx, snapshot: Snapshot): Promise<void> {
  const { id } = snapshot.send!;
  await releaseReservedSends(tx, { sendId: id });
  snapshot.sends = snapshot.sends.filter((send) => send.id !== id);
  snapshot.send = null;
}

/** Returns a step's label for people: "step 3 of 5 (Follow-up)". */
export function stepLabel(graph: Pick<Graph, 'steps'>, { id, name }: EngineStep): Message {
  const place = { number: graph.steps.findIndex((step) => step.id === id) + 1, count: graph.steps.length };
  return name ? message('step.label_named', { ...place, name }) : message('step.label', place);
}

/**
 * Returns the step and the reason of a decision as texts for the Temporal UI. They are in one fixed language, because
 * the reader's language is unknown.
 */
export function placeOf(step: Message, what: Message): { step: string; where: string } {
  return { step: render(step), where: `${render(step)}, ${render(what)}` };
}

/** Returns the reason shown for a lead whose email at a step has a slot. */
export function slotReason(step: Message): Message {
  return message('wait.at_step', { step, what: message('wait.has_slot') });
}

/** Returns the decision for the workflow and writes its reason to the enrollment's row. */
function storeDecision(
  tx: Tx,
  snapshot: Snapshot,
  step: Message,
  verdict: Exclude<Verdict, { kind: 'passed' | 'finished' }>,
): Decision {
  const showAt = (what: Message, until: Date | null, options?: { blocked: boolean }) =>
    storeWaitReason(snapshot, message('wait.at_step', { step, what }), until, options);
  const at = (what: Message) => placeOf(step, what);
  switch (verdict.kind) {
    case 'slot': {
      const { sendId, mailboxId, at: slot } = verdict;
      showAt(message('wait.has_slot'), slot);
      return slot > tx.now
        ? { kind: 'slot', sendId, mailboxId, at: slot.getTime(), ...at(message('wait.has_slot')) }
        : { kind: 'send', sendId, mailboxId, ...at(message('wait.sending')) };
    }
    case 'call':
      // By this time the app has responded, or the launcher signals the workflow (`launch.ts`).
      showAt(message('wait.asking_app'), new Date(tx.now.getTime() + CALL_MS));
      return { kind: 'call', stepRunId: snapshot.run!.id, ...at(message('wait.asking_app')) };
    case 'wait':
      showAt(verdict.why, verdict.until);
      return { kind: 'wait', until: verdict.until.getTime(), ...at(verdict.why) };
    case 'waitForEvent': {
      const { eventName, until } = verdict;
      const why = message('wait.for_event', { event: eventName });
      showAt(why, until);
      return { kind: 'waitForEvent', eventName, until: until?.getTime() ?? null, ...at(why) };
    }
    case 'hold': {
      const { until, why, state } = verdict;
      showAt(why, until, { blocked: state === 'blocked' });
      return { kind: 'hold', until: until?.getTime() ?? null, state, ...at(why) };
    }
  }
}

async function storeHold(tx: Tx, snapshot: Snapshot, why: Message, until: Date | null): Promise<Decision> {
  await releaseReservedSends(tx, { enrollmentIds: [snapshot.enrollment.id] });
  storeWaitReason(snapshot, why, until, { blocked: snapshot.enrollment.blocked });
  await store(tx, snapshot);
  return { kind: 'hold', until: until?.getTime() ?? null, state: 'held', where: render(why), step: null };
}

/**
 * Stores why the contact waits, so that the API and operators can show it. The texts in Temporal are not read for this.
 */
function storeWaitReason(
  { enrollment, campaign, changes }: Snapshot,
  waitingFor: Message,
  until: Date | null,
  { blocked } = { blocked: false },
): void {
  if (
    isDeepStrictEqual(enrollment.waiting_for, waitingFor) &&
    enrollment.waiting_until?.getTime() === until?.getTime() &&
    enrollment.blocked === blocked
  )
    return;
  Object.assign(changes, {
    waiting_for: json(waitingFor),
    waiting_until: until,
    blocked,
    signalled_epoch: campaign.control_epoch,
  });
}
