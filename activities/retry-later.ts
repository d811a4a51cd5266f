import { ApplicationFailure } from '@temporalio/common';
import type { AppBusy } from '../domain/connect/app-connections/call.ts';
import type { Metrics } from '../lib/metrics.ts';

/** Minimum retry delay (ms). Temporal replaces zero by the delay of the retry policy. */
const MIN_DELAY_MS = 10;

/** Creates an error that makes Temporal retry after `delayMs` (ms), without counting as a failure of the activity. */
export function retryLater(type: string, message: string, delayMs: number): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    category: 'BENIGN',
    nextRetryDelay: Math.max(MIN_DELAY_MS, delayMs),
  });
}

/**
 * Makes Temporal retry the call later if the app already has its maximum number of open calls, or if another attempt's
 * call may be in progress.
 * @throws ApplicationFailure
 */
export function assertNotBusy<Result extends { outcome: string }>(
  metrics: Metrics,
  result: Result | AppBusy,
): asserts result is Exclude<Result, AppBusy> {
  if (result.outcome === 'under_way')
    throw retryLater('call_under_way', 'another attempt may still be under way', (result as AppBusy).retryInMs);
  if (result.outcome !== 'busy') return;
  metrics.targetBusy.inc({ resource: 'apps' });
  throw retryLater('app_busy', 'the app has as many calls under way as it may', (result as AppBusy).retryInMs);
}
