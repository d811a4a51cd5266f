import type { Config } from '../../../lib/config/index.ts';

/**
 * Returns the time of the next attempt after a failed one. The wait starts at WEBHOOK_RETRY_BASE_MS and doubles up to
 * WEBHOOK_RETRY_CAP_MS. Null when no attempt remains.
 * @param attempt number of the attempt that failed, from 1
 * @param earlier number of attempts before the latest redelivery, which restarts the schedule
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
