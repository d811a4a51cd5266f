import { proxyActivities, sleep } from '@temporalio/workflow';
import { TRIAL_DAYS, type TrialActivities } from './contract.ts';

const { endTrial } = proxyActivities<TrialActivities>({ startToCloseTimeout: '1m' });

/** First release: a trial waits for its end. */
export async function trial(trialId: string): Promise<string> {
  await sleep(`${TRIAL_DAYS} days`);
  await endTrial(trialId);
  return 'ended';
}
