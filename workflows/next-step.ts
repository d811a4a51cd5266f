import { isCancellation, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import { asBlocked, type Blocked } from './blocked.ts';

const local = proxyLocalActivities({
  startToCloseTimeout: '30s',
  summary: 'what comes next?',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '2s', maximumAttempts: 5 },
});

// While the database is unreachable, the server retries these activities without adding events to the history.
const patient = proxyActivities({
  startToCloseTimeout: '30s',
  summary: 'what comes next? (asked again)',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/**
 * Requests the next step from PostgreSQL. Blocks the workflow if the query keeps failing although the database is
 * reachable.
 * @param question calls an activity. It first receives local activities, which add only one event to the history. If
 * they fail, it receives normal ones
 */
export async function queryNextStep<Activities, Answer>(
  question: (activities: Activities) => Promise<Answer>,
): Promise<Answer | Blocked> {
  try {
    return await question(local as Activities);
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
  try {
    return await question(patient as Activities);
  } catch (error) {
    return asBlocked(error);
  }
}
