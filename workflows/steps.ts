import { CancellationScope, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { runOrShowBlocked, type Blocked } from './blocked.ts';
import { deliver } from './deliver.ts';
import type { Decision, DeliverArgs } from './enrollment/contract.ts';
import type { Hints } from './hints.ts';
import { waitUntil } from './interruptible.ts';
import { resourceQueue } from './queues.ts';

/** Arguments common to the steps of a sequence. */
interface Sequence {
  hints: Hints;
  show(blocked: Blocked): void;
}

/**
 * Sends an email at its slot (epoch ms), unless a signal arrives before. Returns the next step of its lead, if known.
 */
export async function sendAt(
  sequence: Sequence,
  email: DeliverArgs,
  { at, where }: { at: number; where: string },
): Promise<Decision | undefined> {
  await waitUntil(at, sequence.hints.any, where);
  return sequence.hints.any() ? undefined : send(sequence, email, where);
}

/**
 * Sends an email immediately. Cancelling the workflow does not cancel this activity, because otherwise the email would
 * never be settled. If the activity is blocked, the email needs no settlement, and the workflow ends. Returns the next
 * step of the email's lead, unless a signal arrived after the activity started.
 */
export async function send(
  { hints, show }: Sequence,
  email: DeliverArgs,
  where: string,
): Promise<Decision | undefined> {
  hints.take();
  const delivered = await runOrShowBlocked(
    () => CancellationScope.nonCancellable(() => deliver(email, where)),
    hints,
    show,
  );
  return hints.any() ? undefined : delivered?.next;
}

/** Calls a customer's app and stores its answer with the step. */
export async function performCall<Activities>(
  { hints, show }: Sequence,
  where: string,
  request: (activities: Activities) => Promise<unknown>,
): Promise<void> {
  const activities = proxyActivities({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'apps'),
    summary: where,
    startToCloseTimeout: '1m',
    heartbeatTimeout: '15s',
    retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '30s' },
  });
  await runOrShowBlocked(() => request(activities as Activities), hints, show);
}
