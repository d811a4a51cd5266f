import { defineSignal } from '@temporalio/workflow';
import { queryNextStep } from '../next-step.ts';
import { restartAsNewWhenLong } from '../continue.ts';
import { listenForHints } from '../hints.ts';
import { waitUntilWorkerTime, waitUntil } from '../interruptible.ts';
import { showDecisions } from '../show.ts';
import { performCall } from '../steps.ts';
import {
  automationWorkflow,
  type AutomationActivities,
  type AutomationArgs,
  type AutomationSignals,
} from './contract.ts';

const changed = defineSignal<[AutomationSignals['changed']]>('changed');
const retry = defineSignal<[AutomationSignals['retry']]>('retry');

/**
 * Automation run that waits or calls another system. PostgreSQL executes immediate nodes and decides the next step.
 * This workflow waits or calls, then requests the next decision.
 */
export async function automationRun(args: AutomationArgs): Promise<string> {
  const hints = listenForHints(changed, retry);
  const run = { hints, show: showDecisions(automationWorkflow) };
  for (;;) {
    hints.take();
    const decision = await queryNextStep((activities: AutomationActivities) => activities.advanceAutomation(args));
    run.show(decision);
    switch (decision.kind) {
      case 'wait':
        await waitUntilWorkerTime(decision.until, hints.any, decision.where);
        break;
      case 'call': {
        const { nodeId, where } = decision;
        await performCall<AutomationActivities>(run, where, ({ callAutomationApp }) =>
          callAutomationApp({ ...args, nodeId }),
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
