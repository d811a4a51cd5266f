import { defineSignal } from '@temporalio/workflow';
import { queryNextStep } from '../next-step.ts';
import { restartAsNewWhenLong } from '../continue.ts';
import { listenForHints } from '../hints.ts';
import { waitUntilWorkerTime, waitUntil } from '../interruptible.ts';
import { showDecisions } from '../show.ts';
import { sendAt } from '../steps.ts';
import {
  directSendWorkflow,
  type DirectSendActivities,
  type DirectSendArgs,
  type DirectSendSignals,
} from './contract.ts';

const decided = defineSignal<[DirectSendSignals['decided']]>('decided');
const changed = defineSignal<[DirectSendSignals['changed']]>('changed');
const retry = defineSignal<[DirectSendSignals['retry']]>('retry');

/**
 * One email written by a person or an agent: waits for its approval, its time and its slot, then sends it. PostgreSQL
 * decides the next step. This workflow waits, executes the decision, and requests the next one.
 */
export async function directSend(args: DirectSendArgs): Promise<string> {
  const hints = listenForHints(decided, changed, retry);
  const run = { hints, show: showDecisions(directSendWorkflow) };
  for (;;) {
    hints.take();
    const decision = await queryNextStep((activities: DirectSendActivities) => activities.advanceDirectSend(args));
    run.show(decision);
    switch (decision.kind) {
      case 'wait':
        await waitUntilWorkerTime(decision.until, hints.any, decision.where);
        break;
      case 'send':
        await sendAt(run, { organizationId: args.organizationId, sendId: args.directSendId }, decision);
        break;
      case 'blocked':
        await waitUntil(null, hints.any, decision.where);
        break;
      case 'done':
        // A signal may mean that a person has requested a resend in the meantime.
        if (!hints.any()) return decision.outcome;
    }
    await restartAsNewWhenLong(args);
  }
}
