import { ApplicationFailure } from '@temporalio/common';
import type { AppBusy } from '../domain/connect/app-connections/call.ts';
import type { Metrics } from '../lib/metrics.ts';

/** The shortest retry delay (ms); zero would mean the retry policy's own delay. */
const MIN_DELAY_MS = 10;

/** A failure that asks Temporal to retry after `delayMs`; it is not counted as a failure. */
export function notYet(type: string, message: string, delayMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    category: 'BENIGN',
    nextRetryDelay: Math.max(MIN_DELAY_MS, delayMs),
  });
}

/** Has a call of an app that has as many calls under way as it may made again later. @throws ApplicationFailure */
export function assertNotBusy<Result extends { outcome: string }>(
  metrics: Metrics,
  result: Result | AppBusy,
): asserts result is Exclude<Result, AppBusy> {
  if (result.outcome !== 'busy') return;
  metrics.targetBusy.inc({ resource: 'apps' });
  throw notYet('app_busy', 'the app has as many calls under way as it may', (result as AppBusy).retryInMs);
}
