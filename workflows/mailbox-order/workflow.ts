import { CancellationScope, defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { queryNextStep } from '../next-step.ts';
import { runOrShowBlocked, type Blocked } from '../blocked.ts';
import { restartAsNewWhenLong } from '../continue.ts';
import { listenForHints } from '../hints.ts';
import { waitUntilWorkerTime, waitUntil } from '../interruptible.ts';
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
 * Order of managed mailboxes: creates the checkout, waits for the payment, and performs the steps at the provider. The
 * steps of a failed or cancelled order are undone in reverse order. Each step is stored in PostgreSQL before the
 * provider is called, so the steps to undo are known even if this workflow is lost. PostgreSQL decides the next step.
 * This workflow executes the decision and requests the next one.
 */
export async function mailboxOrder(args: MailboxOrderArgs): Promise<string> {
  const hints = listenForHints(paid, ended, retry);
  const show = showStates();
  const nextStep = async () => {
    hints.take();
    const decision = await queryNextStep((activities: MailboxOrderActivities) => activities.advanceMailboxOrder(args));
    show(decision);
    return decision;
  };
  const perform = async (step: Act) => {
    await runOrShowBlocked(() => act(args, step), hints, show);
    await restartAsNewWhenLong(args);
    return nextStep();
  };
  let decision = await nextStep();
  for (;;) {
    switch (decision.kind) {
      case 'wait':
        await waitUntilWorkerTime(decision.until, hints.any, decision.where);
        break;
      case 'blocked':
        await waitUntil(null, hints.any, decision.where);
        break;
      case 'done':
        // A signal may mean that the order was cancelled in the meantime.
        if (!hints.any()) return decision.state;
        break;
      case 'undo':
        // A cancelled workflow undoes all steps before it ends. Otherwise the purchases would remain until the sweep
        // finds the order.
        decision = await CancellationScope.nonCancellable(undoAll(decision, perform));
        continue;
      default:
        decision = await perform(decision);
        continue;
    }
    await restartAsNewWhenLong(args);
    decision = await nextStep();
  }
}

/** Returns a function that undoes steps until PostgreSQL names another next step. */
function undoAll(first: Act, perform: (step: Act) => Promise<OrderDecision | Blocked>) {
  return async (): Promise<OrderDecision | Blocked> => {
    let step: OrderDecision | Blocked = first;
    while (step.kind === 'undo') step = await perform(step);
    return step;
  };
}

type Act = Extract<OrderDecision, { kind: 'checkout' | 'close' | 'step' | 'undo' }>;

/** Executes the decided step. */
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

/**
 * Shows the order's progress in the Temporal UI. The state, by which operators filter, is written only when it changes.
 */
function showStates(): (decision: OrderDecision | Blocked) => void {
  const show = showState();
  return (decision) => {
    showOpen(mailboxOrderWorkflow, decision.where, decision.kind === 'wait' ? decision.until : null);
    show({ state: decision.kind === 'blocked' ? 'blocked' : decision.state });
  };
}
