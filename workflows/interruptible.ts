import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';

/**
 * Waits until `until` (epoch ms, null for ever) or until `interrupted` holds, whichever is first. The timer carries a
 * summary, so the Temporal UI shows what the run waits for.
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

/** How long (ms) a run waits for a time that a worker says is to come, and that is over by the run's own clock. */
const BEHIND_MS = 1_000;

/**
 * Waits like {@link waitUntil} for a time that a worker has just said is still to come. Where it is over by the clock of Temporal, the clock of the worker
 * is behind: the run asks again after a second, and not at once, which would go on as fast as workers can answer until their clocks are as far.
 */
export function waitAsTold(until: number | null, interrupted: () => boolean, summary: string): Promise<void> {
  const isBehind = until !== null && until <= Date.now() && !interrupted();
  return waitUntil(isBehind ? Date.now() + BEHIND_MS : until, interrupted, summary);
}
