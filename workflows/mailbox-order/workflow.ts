import { CancellationScope, defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { ask } from '../ask.ts';
import { orBlocked, type Blocked } from '../blocked.ts';
import { restartAsNewWhenLong } from '../continue.ts';
import { listenForHints } from '../hints.ts';
import { waitAsTold, waitUntil } from '../interruptible.ts';
import { resourceQueue } from '../queues.ts';
import { showOpen, showState } from '../show.ts';
import {
  mailboxOrderWorkflow,
  type MailboxOrderActivities,
  type MailboxOrderArgs,
  type MailboxOrderSignals,
  type OrderDecision,
} from './contract.ts';

const paid = defineSignal<[MailboxOrderSignals['paid']]>('paid');
const ended = defineSignal<[MailboxOrderSignals['ended']]>('ended');
const retry = defineSignal<[MailboxOrderSignals['retry']]>('retry');

/**
 * An order of managed mailboxes: its checkout, the wait for the payment, step after step at the provider, ready. An order that fails or is
 * cancelled is undone in reverse. Each step is registered in PostgreSQL before its call, so what has to be undone is known there,
 * whatever became of this run; PostgreSQL decides what comes next, this run does it, and asks again.
 */
export async function mailboxOrder(args: MailboxOrderArgs): Promise<string> {
  const hints = listenForHints(paid, ended, retry);
  const show = showStates();
  for (;;) {
    hints.take();
    const decision = await ask((activities: MailboxOrderActivities) => activities.advanceMailboxOrder(args));
    show(decision);
    switch (decision.kind) {
      case 'wait':
        await waitAsTold(decision.until, hints.any, decision.where);
        break;
      case 'blocked':
        await waitUntil(null, hints.any, decision.where);
        break;
      case 'done':
        // It may have been cancelled meanwhile.
        if (!hints.any()) return decision.state;
        break;
      case 'undo':
        // Cancelling the run must not leave behind what the order has made.
        await CancellationScope.nonCancellable(() => orBlocked(() => act(args, decision), hints, show));
        break;
      default:
        await orBlocked(() => act(args, decision), hints, show);
    }
    await restartAsNewWhenLong(args);
  }
}

type Act = Extract<OrderDecision, { kind: 'checkout' | 'close' | 'step' | 'undo' }>;

/** Does what was decided. */
async function act(args: MailboxOrderArgs, decision: Act): Promise<void> {
  const { openCheckout, closeCheckout, performOrderStep, undoOrderStep } = proxyActivities<MailboxOrderActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'apps'),
    summary: decision.where,
    startToCloseTimeout: '2m',
    heartbeatTimeout: '15s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  switch (decision.kind) {
    case 'checkout':
      return await openCheckout(args);
    case 'close':
      return await closeCheckout(args);
    case 'step':
      await performOrderStep({ ...args, step: decision.step });
      return;
    case 'undo':
      await undoOrderStep({ ...args, step: decision.step });
  }
}

/** Shows in the Temporal UI how far the order is; State, by which operators filter, is written only when it changes. */
function showStates(): (decision: OrderDecision | Blocked) => void {
  const show = showState();
  return (decision) => {
    showOpen(mailboxOrderWorkflow, decision.where, decision.kind === 'wait' ? decision.until : null);
    show({ state: decision.kind === 'blocked' ? 'blocked' : decision.state });
  };
}
