import { defineSignal, proxyActivities, proxyLocalActivities, setHandler, sleep } from '@temporalio/workflow';
import type { BareActivities, BareArgs } from './contract.ts';

const { decide } = proxyLocalActivities<BareActivities>({ startToCloseTimeout: '30s' });
const { deliver } = proxyActivities<BareActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  summary: 'send the email',
});

/**
 * An enrollment with nothing in it: per email a local activity that decides, a timer where the enrollment has one, and an
 * activity that sends; and one last decision.
 */
export async function bare({ organizationId, enrollmentId, timers }: BareArgs): Promise<string> {
  setHandler(defineSignal('nudge'), () => {});
  for (const hasTimer of timers) {
    await decide({ organizationId, enrollmentId });
    if (hasTimer) await sleep(1, { summary: 'sending' });
    await deliver({ organizationId, sendId: enrollmentId });
  }
  await decide({ organizationId, enrollmentId });
  return 'completed';
}
