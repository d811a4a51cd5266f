import { defineSignal } from '@temporalio/workflow';
import { ask } from '../ask.ts';
import { restartAsNewWhenLong } from '../continue.ts';
import { listenForHints } from '../hints.ts';
import { waitAsTold, waitUntil } from '../interruptible.ts';
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
 * One email that a person or an agent wrote: wait for its approval and its time, wait for its slot, send. PostgreSQL decides
 * which of them comes next; this run waits as long as needed, does it, and asks again.
 */
export async function directSend(args: DirectSendArgs): Promise<string> {
  const hints = listenForHints(decided, changed, retry);
  const run = { hints, show: showDecisions(directSendWorkflow) };
  for (;;) {
    hints.take();
    const decision = await ask((activities: DirectSendActivities) => activities.advanceDirectSend(args));
    run.show(decision);
    switch (decision.kind) {
      case 'wait':
        await waitAsTold(decision.until, hints.any, decision.where);
        break;
      case 'send':
        await sendAt(run, { organizationId: args.organizationId, sendId: args.directSendId }, decision);
        break;
      case 'blocked':
        await waitUntil(null, hints.any, decision.where);
        break;
      case 'done':
        // A person may have had it sent again meanwhile.
        if (!hints.any()) return decision.outcome;
    }
    await restartAsNewWhenLong(args);
  }
}
