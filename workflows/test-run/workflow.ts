import { defineSignal } from '@temporalio/workflow';
import { queryNextStep } from '../next-step.ts';
import { restartAsNewWhenLong } from '../continue.ts';
import { listenForHints } from '../hints.ts';
import { waitUntilWorkerTime, waitUntil } from '../interruptible.ts';
import { showDecisions } from '../show.ts';
import { performCall, sendAt } from '../steps.ts';
import { testRunWorkflow, type TestRunActivities, type TestRunArgs, type TestRunSignals } from './contract.ts';

const event = defineSignal<[TestRunSignals['event']]>('event');
const cancelled = defineSignal<[TestRunSignals['cancelled']]>('cancelled');
const retry = defineSignal<[TestRunSignals['retry']]>('retry');

/**
 * Test of a campaign's steps with one prospect: it waits, waits for an event, sends or calls an app, until the test is
 * done. PostgreSQL decides the next step. This workflow waits, executes the decision, and requests the next one.
 */
export async function testRun(args: TestRunArgs): Promise<string> {
  const { organizationId } = args;
  const hints = listenForHints(event, cancelled, retry);
  const run = { hints, show: showDecisions(testRunWorkflow) };
  for (;;) {
    hints.take();
    const decision = await queryNextStep((activities: TestRunActivities) => activities.advanceTestRun(args));
    run.show(decision);
    switch (decision.kind) {
      case 'wait':
        await waitUntilWorkerTime(decision.until, hints.any, decision.where);
        break;
      case 'send':
        await sendAt(run, { organizationId, sendId: decision.sendId }, decision);
        break;
      case 'call': {
        const { stepRunId, where } = decision;
        await performCall<TestRunActivities>(run, where, ({ callAppForTest }) =>
          callAppForTest({ organizationId, stepRunId }),
        );
        break;
      }
      case 'blocked':
        await waitUntil(null, hints.any, decision.where);
        break;
      case 'done':
        return decision.outcome;
    }
    await restartAsNewWhenLong(args);
  }
}
