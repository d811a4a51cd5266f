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
