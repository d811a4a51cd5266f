import { defineSearchAttributeKey } from '@temporalio/common';
import {
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { BareActivities, BareArgs, BareRunArgs } from './contract.ts';

const stateAttribute = defineSearchAttributeKey('State', 'KEYWORD');

const { decide } = proxyLocalActivities<BareActivities>({ startToCloseTimeout: '30s' });
const { deliver } = proxyActivities<BareActivities>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '10s',
  summary: 'send the email',
});

/**
 * Empty enrollment workflow. For each email it has a local activity that decides, a timer if the enrollment would have
 * one, and an activity that sends. It ends with a last decision.
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

/**
 * Empty workflow of a run that is launched immediately: one activity that checks and launches, and the state that
 * operators see.
 */
export async function bareRun({ organizationId, runId }: BareRunArgs): Promise<string> {
  setHandler(defineSignal('decided'), () => {});
  await deliver({ organizationId, sendId: runId });
  setCurrentDetails('active');
  upsertSearchAttributes([{ key: stateAttribute, value: 'active' }]);
  return 'active';
}
