import type { Config } from '../../../lib/config/index.ts';

/**
 * When the next attempt is due after one that failed: WEBHOOK_RETRY_BASE_MS, doubling, WEBHOOK_RETRY_CAP_MS at most;
 * null when there is none left.
 * @param attempt number of the attempt that failed, from 1
 * @param earlier attempts before the latest redelivery, which restarts the schedule
 */
export function nextAttemptAt(
  config: Pick<Config, 'WEBHOOK_RETRY_BASE_MS' | 'WEBHOOK_RETRY_CAP_MS'>,
  { attempt, earlier, max }: { attempt: number; earlier: number; max: number },
  now: Date,
): Date | null {
  if (attempt >= max) return null;
  const wait = Math.min(
    config.WEBHOOK_RETRY_BASE_MS * 2 ** Math.min(attempt - earlier - 1, 40),
    config.WEBHOOK_RETRY_CAP_MS,
  );
  return new Date(now.getTime() + wait);
}
