import { isCancellation, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import { asBlocked, type Blocked } from './blocked.ts';

const local = proxyLocalActivities({
  startToCloseTimeout: '30s',
  summary: 'what comes next?',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '2s', maximumAttempts: 5 },
});

// While the database is away, the server retries without an event in the history, for any length of time.
const patient = proxyActivities({
  startToCloseTimeout: '30s',
  summary: 'what comes next? (asked again)',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/**
 * Asks PostgreSQL what comes next. When that keeps failing, other than by an absent database, the run is blocked.
 * @param question asks by the activities it gets: local ones first, which leave one event, then normal ones
 */
export async function ask<Activities, Answer>(
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
