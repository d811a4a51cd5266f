import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { ask } from '../ask.ts';
import { orBlocked } from '../blocked.ts';
import { continueWhenLong } from '../continue.ts';
import { listenForHints } from '../hints.ts';
import { waitAsTold, waitUntil } from '../interruptible.ts';
import { resourceQueue } from '../queues.ts';
import { showDecisions } from '../show.ts';
import type { AutomationActivities, AutomationArgs, AutomationDecision, AutomationSignals } from './contract.ts';

const changed = defineSignal<[AutomationSignals['changed']]>('changed');
const retry = defineSignal<[AutomationSignals['retry']]>('retry');

/**
 * A run of an automation that waits or calls another system. PostgreSQL does what can be done at once and says what comes next; this run waits for it, or
 * calls, and asks again.
 */
export async function automationRun(args: AutomationArgs): Promise<string> {
  const hints = listenForHints(changed, retry);
  const show = showDecisions();
  for (;;) {
    hints.take();
    const decision = await ask((activities: AutomationActivities) => activities.advanceAutomation(args));
    show(decision);
    switch (decision.kind) {
      case 'wait':
        await waitAsTold(decision.until, hints.any, decision.where);
        break;
      case 'call':
        await orBlocked(() => call(args, decision), hints, show);
        break;
      case 'blocked':
        await waitUntil(null, hints.any, decision.where);
        break;
      case 'done':
        return decision.outcome;
    }
    await continueWhenLong(args);
  }
}

/** One call of an app; its answer, or when to call again, is stored with the run. */
async function call(
  { organizationId, runId }: AutomationArgs,
  { nodeId, where }: Extract<AutomationDecision, { kind: 'call' }>,
): Promise<void> {
  const { callAutomationApp } = proxyActivities<AutomationActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'apps'),
    summary: where,
    startToCloseTimeout: '1m',
    heartbeatTimeout: '15s',
    retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '5m' },
  });
  await callAutomationApp({ organizationId, runId, nodeId });
}
