import { defineSearchAttributeKey } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { blockedReason } from '../blocked.ts';
import { waitUntil } from '../interruptible.ts';
import { resourceQueue } from '../queues.ts';
import type { DirectDecision, DirectSendActivities, DirectSendArgs, DirectSendSignals } from './contract.ts';

type Blocked = { kind: 'blocked'; where: string };

/**
 * One email that a person or an agent wrote: wait for its approval and its time, wait for its slot, send. PostgreSQL decides
 * which of them comes next; this run waits as long as needed, does it, and asks again.
 */
export async function directSend(args: DirectSendArgs): Promise<string> {
  const hints = listenForHints();
  const show = showDecisions();
  for (;;) {
    hints.take();
    const decision = await decide(args);
    show(decision);
    switch (decision.kind) {
      case 'wait':
        await waitUntil(decision.until, hints.any, decision.where);
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
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof directSend>(args);
    }
  }
}

const local = proxyLocalActivities<DirectSendActivities>({
  startToCloseTimeout: '30s',
  summary: 'what comes next?',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '2s', maximumAttempts: 5 },
});

// While the database is away, the server retries without an event in the history, for any length of time.
const patient = proxyActivities<DirectSendActivities>({
  startToCloseTimeout: '30s',
  summary: 'what comes next? (asked again)',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/** Asks PostgreSQL. When that keeps failing, other than by an absent database, the email is blocked. */
async function decide(args: DirectSendArgs): Promise<DirectDecision | Blocked> {
  try {
    return await local.advanceDirectSend(args);
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
  try {
    return await patient.advanceDirectSend(args);
  } catch (error) {
    return { kind: 'blocked', where: blockedReason(error) };
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
  const { deliverSend } = proxyActivities<DirectSendActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'mail'),
    summary: where,
    startToCloseTimeout: '5m',
    // A task that never reached its worker is retried this soon; if the worker is only slow, the retry finds the email claimed.
    heartbeatTimeout: '10s',
    retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  try {
    await CancellationScope.nonCancellable(() => deliverSend({ organizationId, sendId: directSendId }));
  } catch (error) {
    const blocked = { kind: 'blocked', where: blockedReason(error) } as const;
    show(blocked);
    await waitUntil(null, hints.any, blocked.where);
  }
}

/** Signals that came since the run last asked what comes next. */
interface Hints {
  any(): boolean;
  /** Forgets the signals so far: the run asks now. */
  take(): void;
}

const decided = defineSignal<[DirectSendSignals['decided']]>('decided');
const changed = defineSignal<[DirectSendSignals['changed']]>('changed');
const retry = defineSignal<[DirectSendSignals['retry']]>('retry');

function listenForHints(): Hints {
  let came = false;
  for (const signal of [decided, changed, retry])
    setHandler(signal, () => {
      came = true;
    });
  return {
    any: () => came,
    take() {
      came = false;
    },
  };
}

const stateAttribute = defineSearchAttributeKey('State', 'KEYWORD');

/** Shows in the Temporal UI what the run waits for; State, by which operators filter, is written only when it changes. */
function showDecisions(): (decision: DirectDecision | Blocked) => void {
  let state = workflowInfo().typedSearchAttributes.get(stateAttribute) || 'active';
  return (decision) => {
    if (decision.kind === 'done') return setCurrentDetails(`finished: ${decision.outcome}`);
    const until = decision.kind === 'wait' ? decision.until : decision.kind === 'send' ? decision.at : null;
    setCurrentDetails(decision.where + (until === null ? '' : ` until ${new Date(until).toISOString()}`));
    const now = decision.kind === 'wait' ? decision.state : decision.kind === 'blocked' ? 'blocked' : 'active';
    if (now !== state) upsertSearchAttributes([{ key: stateAttribute, value: now }]);
    state = now;
  };
}
