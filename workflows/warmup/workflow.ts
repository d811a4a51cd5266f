import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { listenForHints } from '../hints.ts';
import { resourceQueue } from '../queues.ts';
import { iterateUntilDone } from '../iterations.ts';
import { warmupWorkflow, type WarmupActivities, type WarmupArgs, type WarmupSignals } from './contract.ts';

const changed = defineSignal<[WarmupSignals['changed']]>('changed');
const retry = defineSignal<[WarmupSignals['retry']]>('retry');

/**
 * Warmup of a mailbox. Each iteration sends the due email and returns the time at which the next one is due. State is
 * `active`, `resting` (until a signal, for example while paused) or `blocked`.
 */
export async function warmup(args: WarmupArgs): Promise<string> {
  const { warmupTurn } = proxyActivities<WarmupActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'mail'),
    summary: 'send what is due',
    startToCloseTimeout: '3m',
    heartbeatTimeout: '15s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  return iterateUntilDone(warmupWorkflow, args, listenForHints(changed, retry), warmupTurn);
}
