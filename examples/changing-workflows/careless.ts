import { proxyActivities, sleep } from '@temporalio/workflow';
import { REMINDER_DAY, TRIAL_DAYS, type TrialActivities } from './contract.ts';

const { remind, endTrial } = proxyActivities<TrialActivities>({ startToCloseTimeout: '1m' });

/**
 * Release that adds the reminder without versioning. An open trial takes its 14-day timer for the new first one: the
 * reminder is sent on the last day, and the trial ends three days late. A trial whose timer has already fired fails to
 * replay and is stuck.
 */
export async function trial(trialId: string): Promise<string> {
  await sleep(`${REMINDER_DAY} days`);
  await remind(trialId);
  await sleep(`${TRIAL_DAYS - REMINDER_DAY} days`);
  await endTrial(trialId);
  return 'ended';
}
