import { oldestLookSeconds, reviewReading } from '../domain/mailboxes/unread.ts';
import type { Deps } from '../domain/platform/kernel/context.ts';
import { every, type Repeated } from '../lib/every.ts';
import type { Metrics } from '../lib/metrics.ts';

/** Interval (ms) between two reviews. */
const REVIEW_MS = 60_000;

/**
 * Holds mailboxes that are not being read, releases them when reading resumes, and measures the age of the oldest
 * reading. Runs in reading and in sending processes, because all reading processes may be dead.
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
