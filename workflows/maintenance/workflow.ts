import { patched, proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { resourceQueue } from '../queues.ts';
import type { MaintenanceActivities } from './contract.ts';

/** One sweep of the installation. */
export async function maintenance(): Promise<number> {
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
