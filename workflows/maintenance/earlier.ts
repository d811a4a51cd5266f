import { patched, proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { resourceQueue } from '../queues.ts';
import type { MaintenanceActivities } from './contract.ts';

/** The sweep of earlier releases: all chores in one activity, and the search for missing runs in another one. */
export async function inTwoActivities(): Promise<number> {
  const activity = (summary: string) =>
    proxyActivities<MaintenanceActivities>({
      taskQueue: resourceQueue(workflowInfo().taskQueue, 'batch'),
      summary,
      startToCloseTimeout: '10m',
      heartbeatTimeout: '1m',
      retry: { initialInterval: '5s', backoffCoefficient: 2, maximumAttempts: 5 },
    });
  const { removed } = await activity('delete expired rows in pages').sweepExpired();
  const reconcile = activity('start runs that must be open and are not');
  const missing = patched('reconcile') ? (await reconcile.reconcileRuns()).missing : 0;
  setCurrentDetails(`removed ${removed} rows${missing > 0 ? `, started ${missing} missing runs` : ''}`);
  return removed;
}
