import { CancellationScope, defineSignal } from '@temporalio/workflow';
import { ask } from '../ask.ts';
import { orBlocked, type Blocked } from '../blocked.ts';
import { continueWhenLong } from '../continue.ts';
import { deliver } from '../deliver.ts';
import { listenForHints, type Hints } from '../hints.ts';
import { waitAsTold, waitUntil } from '../interruptible.ts';
import { showDecisions } from '../show.ts';
import type { DirectDecision, DirectSendActivities, DirectSendArgs, DirectSendSignals } from './contract.ts';

const decided = defineSignal<[DirectSendSignals['decided']]>('decided');
const changed = defineSignal<[DirectSendSignals['changed']]>('changed');
const retry = defineSignal<[DirectSendSignals['retry']]>('retry');

/**
 * One email that a person or an agent wrote: wait for its approval and its time, wait for its slot, send. PostgreSQL decides
 * which of them comes next; this run waits as long as needed, does it, and asks again.
 */
export async function directSend(args: DirectSendArgs): Promise<string> {
  const hints = listenForHints(decided, changed, retry);
  const show = showDecisions();
  for (;;) {
    hints.take();
    const decision = await ask((activities: DirectSendActivities) => activities.advanceDirectSend(args));
    show(decision);
    switch (decision.kind) {
      case 'wait':
        await waitAsTold(decision.until, hints.any, decision.where);
        break;
      case 'send':
        await sendAt(args, hints, decision, show);
        break;
      case 'blocked':
        await waitUntil(null, hints.any, decision.where);
        break;
      case 'done':
        // A person may have had it sent again meanwhile.
        if (!hints.any()) return decision.outcome;
    }
    await continueWhenLong(args);
  }
}

/** The email leaves at its slot, unless something has changed by then. Cancelling the run does not cancel the sending. */
async function sendAt(
  { organizationId, directSendId }: DirectSendArgs,
  hints: Hints,
  { at, where }: Extract<DirectDecision, { kind: 'send' }>,
  show: (decision: Blocked) => void,
): Promise<void> {
  await waitUntil(at, hints.any, where);
  if (hints.any()) return;
  const send = () => CancellationScope.nonCancellable(() => deliver({ organizationId, sendId: directSendId }, where));
  await orBlocked(send, hints, show);
}
