import { CancellationScope, defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { ask } from '../ask.ts';
import { orBlocked, type Blocked } from '../blocked.ts';
import { continueWhenLong } from '../continue.ts';
import { deliver } from '../deliver.ts';
import { listenForHints, type Hints } from '../hints.ts';
import { waitAsTold, waitUntil } from '../interruptible.ts';
import { resourceQueue } from '../queues.ts';
import { showDecisions } from '../show.ts';
import type { TestDecision, TestRunActivities, TestRunArgs, TestRunSignals } from './contract.ts';

const event = defineSignal<[TestRunSignals['event']]>('event');
const cancelled = defineSignal<[TestRunSignals['cancelled']]>('cancelled');
const retry = defineSignal<[TestRunSignals['retry']]>('retry');

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
  const run: Run = { args, hints: listenForHints(event, cancelled, retry), show: showDecisions() };
  for (;;) {
    run.hints.take();
    const decision = await ask((activities: TestRunActivities) => activities.advanceTestRun(run.args));
    run.show(decision);
    switch (decision.kind) {
      case 'wait':
        await waitAsTold(decision.until, run.hints.any, decision.where);
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
    await continueWhenLong(args);
  }
}

/** The email leaves at its slot, unless the run was cancelled by then. Cancelling the workflow does not cancel the sending. */
async function send(run: Run, { sendId, at, where }: Extract<TestDecision, { kind: 'send' }>): Promise<void> {
  await waitUntil(at, run.hints.any, where);
  if (run.hints.any()) return;
  const { organizationId } = run.args;
  await CancellationScope.nonCancellable(() =>
    orBlocked(() => deliver({ organizationId, sendId }, where), run.hints, run.show),
  );
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
  const { organizationId } = run.args;
  await orBlocked(() => callAppForTest({ organizationId, stepRunId }), run.hints, run.show);
}
