import { proxyActivities, sleep } from '@temporalio/workflow';
import { REMINDER_DAY, TRIAL_DAYS, type TrialActivities } from './contract.ts';

const { remind, endTrial } = proxyActivities<TrialActivities>({ startToCloseTimeout: '1m' });

/**
 * The reminder as one would add it to a script. A trial that waits already takes its timer of 14 days for the first one: it is reminded on the last day, and ends
 * three days late. A trial that has fired its timer does not replay, and stands still.
 */
export async function trial(trialId: string): Promise<string> {
  await sleep(`${REMINDER_DAY} days`);
  await remind(trialId);
  await sleep(`${TRIAL_DAYS - REMINDER_DAY} days`);
  await endTrial(trialId);
  return 'ended';
}
