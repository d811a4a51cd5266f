import {
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { resourceQueue } from '../queues.ts';
import { CHORES, type Chore, type MaintenanceActivities } from './contract.ts';

/** What came of the chores of a sweep: those that found something to do, with how much. */
type Swept = Partial<Record<Chore, number>>;

/**
 * One sweep of the installation, chore by chore. A chore that fails keeps none of the others from being done; a sweep in which one failed
 * fails at its end, so that operators find it, and the next one begins anew.
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
