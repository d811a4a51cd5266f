import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { listenForHints } from '../hints.ts';
import { resourceQueue } from '../queues.ts';
import { takeTurns } from '../turns.ts';
import type { WarmupActivities, WarmupArgs, WarmupSignals } from './contract.ts';

const changed = defineSignal<[WarmupSignals['changed']]>('changed');
const retry = defineSignal<[WarmupSignals['retry']]>('retry');

/** Sends a mailbox's warmup emails one by one, each at its time: a timer and a turn, two workflow tasks, per email. */
export async function warmup(args: WarmupArgs): Promise<string> {
  const { warmupTurn } = proxyActivities<WarmupActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'mail'),
    summary: 'send what is due',
    startToCloseTimeout: '3m',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  return takeTurns(args, listenForHints(changed, retry), warmupTurn);
}
