import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { listenForHints } from '../hints.ts';
import { iterateUntilDone } from '../iterations.ts';
import { resourceQueue } from '../queues.ts';
import { deletionWorkflow, type DeletionActivities, type DeletionArgs, type DeletionSignals } from './contract.ts';

const changed = defineSignal<[DeletionSignals['changed']]>('changed');

/**
 * Waits until the date of a deletion, then erases the workspace or account page by page. Ends early if a person cancels
 * the deletion.
 */
export async function deletion(args: DeletionArgs): Promise<string> {
  const { advanceDeletion } = proxyActivities<DeletionActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'batch'),
    summary: 'mail, wait, or erase some pages',
    startToCloseTimeout: '10m',
    heartbeatTimeout: '15s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5m' },
  });
  return iterateUntilDone(deletionWorkflow, args, listenForHints(changed), advanceDeletion);
}
