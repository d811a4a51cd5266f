import { proxyActivities, sleep } from '@temporalio/workflow';
import { REMINDER_DAY, TRIAL_DAYS, type TrialActivities } from './contract.ts';

const { remind, endTrial } = proxyActivities<TrialActivities>({ startToCloseTimeout: '1m' });

/**
 * Release that adds the reminder without versioning. On replay, the recorded 14-day timer of an open trial is matched
 * to the new reminder timer. The reminder is then sent on the last day, and the trial ends three days late. A trial
 * whose timer has already fired fails to replay and is stuck.
 */
export async function trial(trialId: string): Promise<string> {
  await sleep(`${REMINDER_DAY} days`);
  await remind(trialId);
  await sleep(`${TRIAL_DAYS - REMINDER_DAY} days`);
  await endTrial(trialId);
  return 'ended';
}
