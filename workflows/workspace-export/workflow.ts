import { defineSignal, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { listenForHints } from '../hints.ts';
import { resourceQueue } from '../queues.ts';
import { iterateUntilDone } from '../iterations.ts';
import {
  workspaceExportWorkflow,
  type WorkspaceExportActivities,
  type WorkspaceExportArgs,
  type WorkspaceExportSignals,
} from './contract.ts';

const retry = defineSignal<[WorkspaceExportSignals['retry']]>('retry');

/**
 * Writes one export of a workspace. PostgreSQL stores progress and result; this workflow ensures that the export ends.
 */
export async function workspaceExport(args: WorkspaceExportArgs): Promise<string> {
  const { makeWorkspaceExport } = proxyActivities<WorkspaceExportActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'batch'),
    summary: 'write the data of the workspace into a file, and mail the link',
    // The activity stops an attempt that reads for an hour. The rest of the timeout is for storing the file.
    startToCloseTimeout: '2h',
    heartbeatTimeout: '1m',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '5m' },
  });
  return iterateUntilDone(workspaceExportWorkflow, args, listenForHints(retry), makeWorkspaceExport);
}
