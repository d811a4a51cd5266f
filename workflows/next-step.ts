import { isCancellation, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import { asBlocked, type Blocked } from './blocked.ts';

const local = proxyLocalActivities({
  startToCloseTimeout: '30s',
  summary: 'what comes next?',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '2s', maximumAttempts: 5 },
});

// The server retries these activities without writing events to the history, as long as the database is unreachable.
const patient = proxyActivities({
  startToCloseTimeout: '30s',
  summary: 'what comes next? (asked again)',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/**
 * Requests the next step from PostgreSQL. Blocks the workflow if the query keeps failing for a reason other than an
 * unreachable database.
 * @param question calls an activity. It first gets local activities, which add only one event to the history, and after
 * their failure normal ones
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
