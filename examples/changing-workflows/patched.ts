import { patched, proxyActivities, sleep } from '@temporalio/workflow';
import { REMINDER_DAY, TRIAL_DAYS, type TrialActivities } from './contract.ts';

const { remind, endTrial } = proxyActivities<TrialActivities>({ startToCloseTimeout: '1m' });

/** Second release: new trials get a reminder. Open trials continue without one, as they started. */
export async function trial(trialId: string): Promise<string> {
  if (patched('reminder')) {
    await sleep(`${REMINDER_DAY} days`);
    await remind(trialId);
    await sleep(`${TRIAL_DAYS - REMINDER_DAY} days`);
  } else {
    await sleep(`${TRIAL_DAYS} days`);
  }
  await endTrial(trialId);
  return 'ended';
}
