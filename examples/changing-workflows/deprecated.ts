import { deprecatePatch, proxyActivities, sleep } from '@temporalio/workflow';
import { REMINDER_DAY, TRIAL_DAYS, type TrialActivities } from './contract.ts';

const { remind, endTrial } = proxyActivities<TrialActivities>({ startToCloseTimeout: '1m' });

/**
 * Third release, deployed when no trial of the first release is open any more. The old path is removed, but histories
 * may still contain the patch's marker.
 */
export async function trial(trialId: string): Promise<string> {
  deprecatePatch('reminder');
  await sleep(`${REMINDER_DAY} days`);
  await remind(trialId);
  await sleep(`${TRIAL_DAYS - REMINDER_DAY} days`);
  await endTrial(trialId);
  return 'ended';
}
