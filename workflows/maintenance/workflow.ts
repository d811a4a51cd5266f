import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { MaintenanceActivities } from './contract.ts';

const { sweepExpired } = proxyActivities<MaintenanceActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '1m',
  summary: 'delete expired rows in pages',
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumAttempts: 5 },
});

/** One sweep of the installation. */
export async function maintenance(): Promise<number> {
  const { removed } = await sweepExpired();
  setCurrentDetails(`removed ${removed} rows`);
  return removed;
}
