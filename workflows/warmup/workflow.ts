import {
  ActivityCancellationType,
  ActivityFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { blockedReason } from '../blocked.ts';
import { resourceQueue } from '../queues.ts';
import { showState } from '../show.ts';
import type { WarmupActivities, WarmupArgs, WarmupSignals } from './contract.ts';

const changed = defineSignal<[WarmupSignals['changed']]>('changed');
const retry = defineSignal<[WarmupSignals['retry']]>('retry');

/**
 * The warmup of a mailbox: one activity, which the server retries when PostgreSQL says the next email is due, so that an email costs no
 * workflow task. A signal cancels the waiting activity and starts it anew; one that is sending finishes that first. State is `active`, `resting` (until a
 * signal, as when it is paused) or `blocked`.
 */
export async function warmup(args: WarmupArgs): Promise<string> {
  const activities = proxyActivities<WarmupActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'mail'),
    summary: 'send what is due',
    startToCloseTimeout: '3m',
    heartbeatTimeout: '15s',
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    // For turns that failed; one that was taken carries the delay of the next.
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  const show = showState();
  let hinted = false;
  let turns: CancellationScope | undefined;
  const hint = (): void => {
    hinted = true;
    turns?.cancel();
  };
  setHandler(changed, hint);
  setHandler(retry, hint);
  for (;;) {
    hinted = false;
    turns = new CancellationScope();
    setCurrentDetails('exchanging emails: the pending activity shows what is next, and when');
    show('active');
    const rest = await turns.run(() => activities.keepWarm(args)).catch((error: unknown) => restAfter(error, hinted));
    if (rest) {
      setCurrentDetails(rest.why);
      if (rest.kind === 'done' && !hinted) return rest.why;
      show(rest.kind === 'blocked' ? 'blocked' : 'resting');
      await condition(() => hinted);
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew(args);
  }
}

/** What turns that failed leave: nothing where a signal cancelled them, else the block that they met. Rethrows any other error. */
function restAfter(error: unknown, hinted: boolean): { kind: 'blocked'; why: string } | undefined {
  if (CancellationScope.current().consideredCancelled) throw error;
  return hinted && error instanceof ActivityFailure ? undefined : { kind: 'blocked', why: blockedReason(error) };
}
