import { isCancellation, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import { asBlocked, type Blocked } from './blocked.ts';

const local = proxyLocalActivities({
  startToCloseTimeout: '30s',
  summary: 'what comes next?',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '2s', maximumAttempts: 5 },
});

// While the database is unreachable, the server retries without writing events to the history, for any length of time.
const patient = proxyActivities({
  startToCloseTimeout: '30s',
  summary: 'what comes next? (asked again)',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '30s' },
});

/**
 * Asks PostgreSQL for the next step. Blocks the workflow if the query keeps failing for another reason than an
 * unreachable database.
 * @param question uses the given activities: local ones first, which add one event, then normal ones
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
