import { defineSearchAttributeKey } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { blockedReason } from '../blocked.ts';
import { waitUntil } from '../interruptible.ts';
import { resourceQueue } from '../queues.ts';
import type { TestDecision, TestRunActivities, TestRunArgs, TestRunSignals } from './contract.ts';

type Blocked = { kind: 'blocked'; where: string };

/** What each step of the sequence gets. */
interface Run {
  args: TestRunArgs;
  hints: Hints;
  show(decision: TestDecision | Blocked): void;
}

/**
 * One prospect through the steps of a campaign, for a test: wait, wait for an event, send, call an app, until done. PostgreSQL
 * decides which of them comes next; this run waits as long as needed, does it, and asks again.
 */
export async function testRun(args: TestRunArgs): Promise<string> {
  const run: Run = { args, hints: listenForHints(), show: showDecisions() };
  for (;;) {
    run.hints.take();
    const decision = await decide(run.args);
    run.show(decision);
    switch (decision.kind) {
      case 'wait':
        await waitUntil(decision.until, run.hints.any, decision.where);
        break;
      case 'send':
        await send(run, decision);
        break;
      case 'call':
        await call(run, decision);
        break;
      case 'blocked':
        await waitUntil(null, run.hints.any, decision.where);
        break;
      case 'done':
        return decision.outcome;
    }
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof testRun>(args);
    }
  }
}

const local = proxyLocalActivities<TestRunActivities>({
  startToCloseTimeout: '30s',
  summary: 'what comes next?',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '2s', maximumAttempts: 5 },
});

// While the database is away, the server retries without an event in the history, for any length of time.
const patient = proxyActivities<TestRunActivities>({
  startToCloseTimeout: '30s',
  summary: 'what comes next? (asked again)',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/** Asks PostgreSQL. When that keeps failing, other than by an absent database, the run is blocked. */
async function decide(args: TestRunArgs): Promise<TestDecision | Blocked> {
  try {
    return await local.advanceTestRun(args);
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
  try {
    return await patient.advanceTestRun(args);
  } catch (error) {
    return { kind: 'blocked', where: blockedReason(error) };
  }
}

/** The email leaves at its slot, unless the run was cancelled by then. Cancelling the workflow does not cancel the sending. */
async function send(run: Run, { sendId, at, where }: Extract<TestDecision, { kind: 'send' }>): Promise<void> {
  await waitUntil(at, run.hints.any, where);
  if (run.hints.any()) return;
  const { deliverSend } = proxyActivities<TestRunActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'mail'),
    summary: where,
    startToCloseTimeout: '5m',
    // A task that never reached its worker is retried this soon; if the worker is only slow, the retry finds the email claimed.
    heartbeatTimeout: '10s',
    retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  const { organizationId } = run.args;
  await CancellationScope.nonCancellable(() => orBlocked(run, () => deliverSend({ organizationId, sendId })));
}

/** Calls the customer's app; its answer is stored with the step. */
async function call(run: Run, { stepRunId, where }: Extract<TestDecision, { kind: 'call' }>): Promise<void> {
  const { callAppForTest } = proxyActivities<TestRunActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'apps'),
    summary: where,
    startToCloseTimeout: '1m',
    heartbeatTimeout: '15s',
    retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '5m' },
  });
  await orBlocked(run, () => callAppForTest({ organizationId: run.args.organizationId, stepRunId }));
}

/** When the work keeps failing, PostgreSQL shows the run as blocked: it waits until it is retried. */
async function orBlocked(run: Run, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const blocked = { kind: 'blocked', where: blockedReason(error) } as const;
    run.show(blocked);
    await waitUntil(null, run.hints.any, blocked.where);
  }
}

/** Signals that came since the run last asked what comes next. */
interface Hints {
  any(): boolean;
  /** Forgets the signals so far: the run asks now. */
  take(): void;
}

const event = defineSignal<[TestRunSignals['event']]>('event');
const cancelled = defineSignal<[TestRunSignals['cancelled']]>('cancelled');
const retry = defineSignal<[TestRunSignals['retry']]>('retry');

function listenForHints(): Hints {
  let came = false;
  for (const signal of [event, cancelled, retry])
    setHandler(signal, () => {
      came = true;
    });
  return {
    any: () => came,
    take() {
      came = false;
    },
  };
}

const stateAttribute = defineSearchAttributeKey('State', 'KEYWORD');

/** Shows in the Temporal UI what the run waits for; State, by which operators filter, is written only when it changes. */
function showDecisions(): (decision: TestDecision | Blocked) => void {
  let state = workflowInfo().typedSearchAttributes.get(stateAttribute) || 'active';
  return (decision) => {
    if (decision.kind === 'done') return setCurrentDetails(`finished: ${decision.outcome}`);
    const until = decision.kind === 'wait' ? decision.until : decision.kind === 'send' ? decision.at : null;
    setCurrentDetails(decision.where + (until === null ? '' : ` until ${new Date(until).toISOString()}`));
    const now = decision.kind === 'wait' ? decision.state : decision.kind === 'blocked' ? 'blocked' : 'active';
    if (now !== state) upsertSearchAttributes([{ key: stateAttribute, value: now }]);
    state = now;
  };
}
