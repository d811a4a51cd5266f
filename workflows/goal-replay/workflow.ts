import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { listenForHints } from '../hints.ts';
import { resourceQueue } from '../queues.ts';
import { showOpen } from '../show.ts';
import { iterateUntilDone } from '../iterations.ts';
import {
  goalReplayWorkflow,
  type GoalReplayActivities,
  type GoalReplayArgs,
  type GoalReplaySignals,
} from './contract.ts';

const retry = defineSignal<[GoalReplaySignals['retry']]>('retry');

/**
 * Matches past events against a goal, page by page. Ends when all events are matched, the goal has changed or the
 * replay was cancelled. The workflow's details show the number of events read. The search attribute State is `blocked`
 * if the replay failed repeatedly.
 */
export async function goalReplay(args: GoalReplayArgs): Promise<string> {
  const { replayPage } = proxyActivities<GoalReplayActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'batch'),
    summary: 'hold a page of events against the goal',
    startToCloseTimeout: '10m',
    heartbeatTimeout: '15s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  });
  showOpen(goalReplayWorkflow, 'beginning');
  return iterateUntilDone(goalReplayWorkflow, args, listenForHints(retry), replayPage);
}
