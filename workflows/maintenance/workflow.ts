import {
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { resourceQueue } from '../queues.ts';
import { CHORES, type Chore, type MaintenanceActivities } from './contract.ts';

/** Result of a sweep: the count of each chore that found work. */
type Swept = Partial<Record<Chore, number>>;

/**
 * Runs one sweep of the installation, chore by chore. A failing chore does not stop the others. The sweep then fails at
 * its end, so that operators notice, and the next sweep runs all chores again.
 */
export async function maintenance(): Promise<Swept> {
  const swept: Swept = {};
  const failed: Chore[] = [];
  for (const chore of Object.keys(CHORES) as Chore[]) {
    try {
      const { done } = await activitiesOf(CHORES[chore]).doChore({ chore });
      if (done > 0) swept[chore] = done;
    } catch (error) {
      if (isCancellation(error)) throw error;
      failed.push(chore);
    }
    setCurrentDetails(describe(swept, failed));
  }
  if (failed.length > 0) throw ApplicationFailure.nonRetryable(describe(swept, failed), 'chores_failed');
  return swept;
}

function activitiesOf(summary: string): MaintenanceActivities {
  return proxyActivities<MaintenanceActivities>({
    taskQueue: resourceQueue(workflowInfo().taskQueue, 'batch'),
    summary,
    startToCloseTimeout: '10m',
    heartbeatTimeout: '1m',
    retry: { initialInterval: '5s', backoffCoefficient: 2, maximumAttempts: 5 },
  });
}

function describe(swept: Swept, failed: readonly Chore[]): string {
  const done = Object.entries(swept).map(([chore, count]) => `${chore} ${count}`);
  return [done.join(', ') || 'nothing to do', ...(failed.length > 0 ? [`failed: ${failed.join(', ')}`] : [])].join(
    '; ',
  );
}
