import { oldestLookSeconds, reviewReading } from '../domain/mailboxes/unread.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { every, type Repeated } from '../lib/every.ts';
import type { Metrics } from '../lib/metrics.ts';

/** Interval (ms) between two reviews. */
const REVIEW_MS = 60_000;

/**
 * Holds mailboxes that are not read, releases them when they are, and measures the age of the oldest reading. Processes
 * that read do so, and processes that send, because the readers may all be gone.
 */
export function startReadingReview(deps: Deps, metrics: Metrics, everyMs = REVIEW_MS): Repeated {
  let unread: ReadonlySet<string> = new Set();
  return every(
    'reading review',
    everyMs,
    async () => {
      metrics.oldestLookSeconds.set(await oldestLookSeconds(deps));
      unread = await reviewReading(deps, unread);
    },
    (error) => deps.log.warn({ err: error }, 'the reading of mailboxes could not be reviewed'),
  );
}
