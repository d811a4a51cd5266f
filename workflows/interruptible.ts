import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';

/**
 * Waits until `until` (epoch ms; null means indefinitely) or until `interrupted` holds, whichever is first. The timer
 * has a summary, so the Temporal UI shows what the run waits for.
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
 * Pause (ms) before a run asks again whose next time is still ahead for a worker but already past by the run's own
 * clock.
 */
const SLOW_CLOCK_MS = 1_000;

/**
 * Like {@link waitUntil}, for a time that a worker considers to be in the future. If it is past by Temporal's clock,
 * the worker's clock is behind. The run then asks again after a second, as asking at once would repeat in a tight loop
 * until the clocks agree.
 */
export function waitUntilWorkerTime(until: number | null, interrupted: () => boolean, summary: string): Promise<void> {
  const isBehind = until !== null && until <= Date.now() && !interrupted();
  return waitUntil(isBehind ? Date.now() + SLOW_CLOCK_MS : until, interrupted, summary);
}
