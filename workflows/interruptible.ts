import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';

/**
 * Waits until `until` (epoch ms; null means indefinitely) or until `interrupted` returns true, whichever is first. The
 * timer has a summary, so the Temporal UI shows the cause of the wait.
 */
export async function waitUntil(until: number | null, interrupted: () => boolean, summary: string): Promise<void> {
  if (interrupted()) return;
  if (until === null) return condition(interrupted);
  const ms = until - Date.now();
  if (ms <= 0) return;
  const scope = new CancellationScope();
  try {
    await scope.run(() => Promise.race([sleep(ms, { summary }), condition(interrupted)]));
  } catch (error) {
    if (!isCancellation(error) || CancellationScope.current().consideredCancelled) throw error;
  } finally {
    scope.cancel();
  }
}

/**
 * Pause (ms) before the next decision if its time has passed by Temporal's clock, but not yet by the worker's clock.
 */
const SLOW_CLOCK_MS = 1_000;

/**
 * Variant of {@link waitUntil} for a time that is in the future by a worker's clock. If it is in the past by Temporal's
 * clock, the worker's clock is behind. The wait then lasts a second, because without a pause the workflow would loop
 * until the clocks agree.
 */
export function waitUntilWorkerTime(until: number | null, interrupted: () => boolean, summary: string): Promise<void> {
  const isBehind = until !== null && until <= Date.now() && !interrupted();
  return waitUntil(isBehind ? Date.now() + SLOW_CLOCK_MS : until, interrupted, summary);
}
