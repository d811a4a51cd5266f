import { patched, proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { MaintenanceActivities } from './contract.ts';

const { sweepExpired } = proxyActivities<MaintenanceActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '1m',
  summary: 'delete expired rows in pages',
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumAttempts: 5 },
});

const { reconcileRuns } = proxyActivities<MaintenanceActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '1m',
  summary: 'start runs that must be open and are not',
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumAttempts: 5 },
});

/** One sweep of the installation. */
export async function maintenance(): Promise<number> {
  const { removed } = await sweepExpired();
  const missing = patched('reconcile') ? (await reconcileRuns()).missing : 0;
  setCurrentDetails(`removed ${removed} rows${missing > 0 ? `, started ${missing} missing runs` : ''}`);
  return removed;
}
