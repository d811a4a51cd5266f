import { json } from '../../../db/connection.ts';
import type { StoredIssue } from '../../../db/json-columns.ts';
import type { Columns } from '../../../db/rows.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/clock.ts';
import { newId } from '../../../lib/ids.ts';
import type { TestDecision } from '../../../workflows/test-run/contract.ts';
import type { StepAction } from '../../sending/campaign/actions.ts';
import {
  branchesInSuspense,
  firstStep,
  matchingBranch,
  type Facts,
  type Outcome,
} from '../../sending/campaign/graph.ts';
import { releaseReservedSends } from '../../sending/control/release.ts';
import { stepLabel } from '../../sending/enrollment/advance.ts';
import { readGraph, type EngineStep, type Graph } from '../../sending/enrollment/snapshot.ts';
import { variantFor } from '../../sending/enrollment/steps.ts';
import { reserveTest } from '../../sending/direct-slot.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import {
  lockTestRun,
  openTestWait,
  settleTestStep,
  type TestRunRow,
  type TestStepResult,
  type TestStepRow,
} from '../../sending/control/test-runs.ts';
import { message, type Message } from '../../../messages/index.ts';
import { render } from '../../../messages/render.ts';

/** Maximum number of steps passed in one call. A longer path can only be a cycle, which the API does not accept. */
const MAX_HOPS = 100;

/** State during one call of {@link advanceTestRun}. The test run's row is locked. */
interface Walk {
  tx: Tx;
  run: TestRunRow;
  graph: Graph;
  /** The prospect's current step, or the last finished one. */
  step: LatestStep | null;
}

/** A step of the run, with the email that it has. */
type LatestStep = TestStepRow & { email: { state: string; slot_at: Date } | null };

/** Result of evaluating the prospect's current step. */
type Verdict =
  | (TestStepResult & { kind: 'passed'; outcome: Outcome })
  | { kind: 'failed'; error: StoredIssue }
  | { kind: 'over'; detail: Message }
  | TestDecision;

/**
 * Executes all steps of a test run that can be executed now, and returns its workflow's next action. An email claimed by a
 * worker is settled first, even if the test run has ended, because the worker may have crashed.
 */
export async function advanceTestRun(ctx: Ctx, id: string): Promise<TestDecision> {
  return transact(ctx, async (tx) => {
    const run = await lockTestRun(tx, id);
    if (!run) return { kind: 'done', outcome: 'deleted' };
    const step = await latestStep(tx, id);
    if (step?.email?.state === 'sending')
      return { kind: 'send', sendId: step.id, at: tx.now.getTime(), where: render(message('wait.sending')) };
    if (run.state !== 'running' && run.state !== 'waiting_for_event') return { kind: 'done', outcome: run.state };
    if (run.ends_at <= tx.now) return finish({ tx, run, graph: NO_GRAPH, step }, 'failed', OUT_OF_TIME);
    const [campaign] = await tx.org.sql<Columns<'campaigns', 'id' | 'graph_version'>>(
      'select id, graph_version from campaigns where organization_id = :org and id = :id',
      { id: run.campaign_id },
    );
    return walk({ tx, run, graph: await readGraph(tx, campaign!), step });
  });
}

const NO_GRAPH: Graph = { steps: [], variants: [], removed: new Map() };

const OUT_OF_TIME: StoredIssue = {
  code: 'run_failed',
  message: message('tests.out_of_time'),
  fix: message('tests.out_of_time.fix'),
};

async function walk(at: Walk): Promise<TestDecision> {
  for (let hops = 0; hops < MAX_HOPS; hops += 1) {
    if (at.step?.state === 'failed') return finish(at, 'failed', issueOf(at));
    if (at.step === null || at.step.state === 'completed' || at.step.state === 'skipped') {
      const next = at.step === null ? { step: beginning(at), since: at.tx.now } : await nextAfter(at, at.step);
      if ('unrouted' in next) return failAtApp(at);
      if ('until' in next) return wait(at, next.until, 'waiting', message('wait.for_outcome'));
      if (next.step === null) return finish(at, 'completed');
      await enter(at, next.step, next.since);
    }
    const verdict = await executeStep(at);
    switch (verdict.kind) {
      case 'passed': {
        await settleTestStep(at.tx, at.step!.id, verdict);
        at.step = await latestStep(at.tx, at.run.id);
        at.run = (await lockTestRun(at.tx, at.run.id))!;
        break;
      }
      case 'over':
        await settleTestStep(at.tx, at.step!.id, { state: 'completed', outcome: 'done', detail: verdict.detail });
        return finish(at, 'completed');
      case 'failed':
        await settleTestStep(at.tx, at.step!.id, {
          state: 'failed',
          outcome: 'failed',
          detail: verdict.error.message,
          error: verdict.error,
        });
        return finish(at, 'failed', verdict.error);
      default:
        return verdict;
    }
  }
  throw new Error(`test run ${at.run.id} passed ${MAX_HOPS} steps without waiting`);
}

/** Returns the step at which the test run begins: the only step that it tests, otherwise the campaign's first step. */
function beginning({ run, graph }: Walk): EngineStep | null {
  return run.only_step_id ? (graph.steps.find(({ id }) => id === run.only_step_id) ?? null) : firstStep(graph.steps);
}

/**
 * Fails a test run whose app call failed at a step without a branch for errors. A lead would be blocked at such a step.
 */
async function failAtApp(at: Walk): Promise<TestDecision> {
  await at.tx.org.table('test_run_steps').where({ id: at.step!.id }).update({ state: 'failed' });
  return finish(at, 'failed', issueOf(at));
}

/**
 * The next step, with the time from which its wait in days is measured (`since`). If reactions may still decide about a
 * branch, the time until which they may (`until`). `unrouted`: no branch handles the failure of an app.
 */
type NextStep = { step: EngineStep | null; since: Date } | { until: Date } | { unrouted: true };

/**
 * Returns the next step after a finished one. The choice of a branch that depends on reactions to an email waits as for
 * a lead.
 */
async function nextAfter({ tx, run, graph }: Walk, finished: TestStepRow): Promise<NextStep> {
  const left = finished.completed_at ?? tx.now;
  if (run.only_step_id) return { step: null, since: left };
  const step = graph.steps.find(({ id }) => id === finished.step_id);
  if (!step) return { step: stepAt(graph, graph.removed.get(finished.step_id)), since: left };
  const facts = await factsOf(tx, run, finished);
  const branch = matchingBranch(step, facts);
  const chosen = stepAt(graph, branch?.to);
  const suspense = facts.email ? branchesInSuspense(step, facts) : [];
  if (suspense.length === 0 && branch === null && finished.outcome === 'error') return { unrouted: true };
  if (suspense.length === 0) return { step: chosen, since: left };
  const dueAt = ({ wait_after: days }: EngineStep) => left.getTime() + limitedWaitMs(run, days * DAY_MS);
  const dues = suspense.flatMap(({ to }) => stepAt(graph, to) ?? []).map(dueAt);
  const now = tx.now.getTime();
  const open = dues.filter((due) => due > now);
  if (open.length > 0 && (chosen ? dueAt(chosen) : Math.max(...dues)) > now)
    return { until: new Date(Math.min(...open)) };
  return { step: chosen, since: left };
}

function stepAt(graph: Graph, to: string | null | undefined): EngineStep | null {
  for (let hops = 0; to && graph.removed.has(to) && hops < graph.removed.size; hops += 1) to = graph.removed.get(to);
  return graph.steps.find(({ id }) => id === to) ?? null;
}

/** Reads the facts that the branch conditions test. `email` is true if an email has been sent. */
async function factsOf(tx: Tx, run: TestRunRow, finished: TestStepRow): Promise<Facts & { email: boolean }> {
  const [found] = await tx.org.sql<{ contact: Facts['contact']; email: Record<string, unknown> | null }>(
    `select to_jsonb(c) as contact,
       (select to_jsonb(s) from sends s join test_run_steps t on t.id = s.id
        where t.test_run_id = :run and s.state in ('sent', 'uncertain') order by t.seq desc limit 1) as email
     from contacts c where c.organization_id = :org and c.id = :contact`,
    { run: run.id, contact: run.contact_id },
  );
  const email = found!.email;
  return {
    outcome: (finished.outcome ?? 'done') as Outcome,
    opened: email?.opened_at != null,
    clicked: email?.clicked_at != null,
    replied: email?.replied_at != null,
    contact: found!.contact,
    app: run.app_values,
    event: finished.event_name === null ? null : finished.output,
    email: email !== null,
  };
}

async function enter(at: Walk, step: EngineStep, since: Date): Promise<void> {
  const { tx, run, graph } = at;
  const seq = (at.step?.seq ?? 0) + 1;
  const id = newId();
  const outputKey = step.action && 'output_key' in step.action ? (step.action.output_key ?? null) : null;
  await tx.org.insert('test_run_steps', {
    id,
    test_run_id: run.id,
    step_id: step.id,
    contact_id: run.contact_id,
    variant_id: step.kind === 'email' && !run.only_step_id ? variantFor(graph, step, run.id) : null,
    seq,
    name: step.name,
    kind: step.action?.type ?? step.kind,
    state: 'running',
    output_key: outputKey,
    // An email's wait in days is measured from the end of the previous step. Any other step begins at once.
    started_at: step.kind === 'email' ? since : tx.now,
  });
  await tx.org.table('test_runs').where({ id: run.id }).update({ current_step_id: step.id, updated_at: tx.now });
  run.current_step_id = step.id;
  at.step = await latestStep(tx, run.id);
}

async function executeStep(at: Walk): Promise<Verdict> {
  const { graph, step, tx } = at;
  const own = graph.steps.find(({ id }) => id === step!.step_id);
  // The step was removed while the prospect was at it.
  if (!own) {
    await releaseReservedSends(tx, { sendId: step!.id });
    return { kind: 'passed', state: 'skipped', outcome: 'skipped', detail: message('tests.step_removed') };
  }
  if (own.kind === 'email') return executeEmail(at, own);
  if (!own.action) return { kind: 'passed', state: 'completed', outcome: 'done' };
  return executeAction(at, own.action);
}

async function executeEmail(at: Walk, own: EngineStep): Promise<Verdict> {
  const { tx, run } = at;
  const step = at.step!;
  if (step.email) return sendNow(at, step.email.slot_at);
  const due = step.started_at.getTime() + limitedWaitMs(run, own.wait_after * DAY_MS);
  if (due > tx.now.getTime()) return wait(at, new Date(due), 'waiting', message('wait.for_day'));
  const slot = await reserveTest(tx, {
    id: step.id,
    mailbox_id: run.mailbox_id,
    to_emails: [run.prospect_email],
    contact_id: null,
    attempts: step.attempts,
  });
  if (slot.kind === 'slot') return sendNow(at, slot.at);
  if (slot.kind === 'later') return wait(at, slot.at, 'held', slot.why);
  return {
    kind: 'failed',
    error: {
      code: 'campaign_no_mailbox',
      message: message('tests.mailbox_gone'),
      fix: message('tests.mailbox_gone.fix'),
    },
  };
}

async function executeAction(at: Walk, action: StepAction): Promise<Verdict> {
  const { tx, run } = at;
  const step = at.step!;
  switch (action.type) {
    case 'app_action':
      await storeState(at, 'running', null, null);
      return { kind: 'call', stepRunId: step.id, where: label(at, message('wait.asking_app')) };
    case 'wait': {
      const until = step.started_at.getTime() + limitedWaitMs(run, action.wait_minutes * MINUTE_MS);
      return until > tx.now.getTime()
        ? wait(at, new Date(until), 'waiting', message('wait.waiting'))
        : { kind: 'passed', state: 'completed', outcome: 'elapsed' };
    }
    case 'wait_for_event':
      return executeWait(at, action);
    case 'end':
      return { kind: 'over', detail: message('tests.end_step') };
    case 'unsubscribe':
      return { kind: 'over', detail: message(`tests.${action.type}`) };
    default:
      return { kind: 'passed', state: 'completed', outcome: 'done', detail: message(`tests.${action.type}`) };
  }
}

/**
 * Opens the wait, or ends the step once the wait's time is over. When an event arrives, another transaction ends the
 * step, also with the test run locked.
 */
async function executeWait(at: Walk, action: Extract<StepAction, { type: 'wait_for_event' }>): Promise<Verdict> {
  const { tx, run } = at;
  const step = at.step!;
  const longest = action.timeout_minutes === null ? Infinity : action.timeout_minutes * MINUTE_MS;
  const deadline =
    step.deadline ?? new Date(Math.min(run.ends_at.getTime(), step.started_at.getTime() + limitedWaitMs(run, longest)));
  if (deadline <= tx.now) return { kind: 'passed', state: 'completed', outcome: 'timeout' };
  if (step.state === 'running') {
    const event = await openTestWait(tx, step, { eventName: action.wait_event_name, deadline });
    if (event) return { kind: 'passed', state: 'completed', outcome: 'event', output: event.data };
  }
  const event = step.event_name ?? action.wait_event_name;
  await storeState(at, 'waiting_for_event', event, deadline);
  return {
    kind: 'wait',
    state: 'waiting',
    until: deadline.getTime(),
    where: label(at, message('wait.for_event', { event })),
  };
}

/**
 * Returns the duration (ms) of a wait in this test run, limited by `max_wait_seconds`. Returns 0 if the run tests a
 * single email.
 */
function limitedWaitMs({ max_wait_seconds: most, only_step_id: only }: TestRunRow, waitMs: number): number {
  if (only) return 0;
  return most === null ? waitMs : Math.min(waitMs, most * 1000);
}

async function sendNow(at: Walk, slot: Date): Promise<TestDecision> {
  await storeState(at, 'running', null, slot);
  return { kind: 'send', sendId: at.step!.id, at: slot.getTime(), where: label(at, message('wait.sending')) };
}

async function wait(at: Walk, until: Date, state: 'waiting' | 'held', why: Message): Promise<TestDecision> {
  const end = until < at.run.ends_at ? until : at.run.ends_at;
  await storeState(at, 'running', null, end);
  return { kind: 'wait', state, until: end.getTime(), where: label(at, why) };
}

/** Stores the state of the test run for the API, with the event that it waits for and the end of the wait. */
async function storeState(
  { tx, run }: Walk,
  state: TestRunRow['state'],
  event: string | null,
  until: Date | null,
): Promise<void> {
  await tx.org
    .table('test_runs')
    .where({ id: run.id })
    .update({ state, waiting_for: event, waiting_until: until, blocked_reason: null, updated_at: tx.now });
}

async function finish(
  { tx, run, step }: Walk,
  state: 'completed' | 'failed',
  error?: StoredIssue,
): Promise<TestDecision> {
  if (step && (step.state === 'running' || step.state === 'waiting')) {
    await releaseReservedSends(tx, { sendId: step.id });
    if (error) await settleTestStep(tx, step.id, { state: 'failed', outcome: 'failed', detail: error.message, error });
  }
  await tx.org
    .table('test_runs')
    .where({ id: run.id })
    .update({
      state,
      error: error ? json(error) : null,
      waiting_for: null,
      waiting_until: null,
      blocked_reason: null,
      updated_at: tx.now,
      completed_at: tx.now,
    });
  return { kind: 'done', outcome: state };
}

/** Returns the error of a run whose step failed. */
function issueOf({ step }: Walk): StoredIssue {
  const { name, error, detail } = step!;
  const reason = error?.message ?? detail;
  return {
    code: 'run_failed',
    message: reason
      ? message('tests.step_failed', { step: name, reason })
      : message('tests.step_failed_unknown', { step: name }),
    fix: error?.fix ?? message('tests.step_failed.fix'),
  };
}

/** Describes the run's wait for the Temporal UI, in the installation's language. */
function label({ graph, step }: Walk, what: Message): string {
  const own = graph.steps.find(({ id }) => id === step!.step_id);
  return own ? `${render(stepLabel(graph, own))}, ${render(what)}` : render(what);
}

async function latestStep(tx: Tx, runId: string): Promise<LatestStep | null> {
  const [found] = await tx.org.sql<TestStepRow & { send_state: string | null; slot_at: Date | null }>(
    `select t.*, s.state as send_state, s.slot_at from test_run_steps t left join sends s on s.id = t.id
     where t.organization_id = :org and t.test_run_id = :run order by t.seq desc limit 1`,
    { run: runId },
  );
  if (!found) return null;
  const { send_state: state, slot_at: slot, ...step } = found;
  return { ...step, email: state === null ? null : { state, slot_at: slot! } };
}
