import { isDatabaseAway, isOverTime } from '../../../db/errors.ts';
import { unavailable, type AppError } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';

/** How long (ms) a client is asked to wait when the database gave its request up. */
const RETRY_AFTER_MS = 5_000;

/**
 * A 503 with Retry-After for a statement that took too long, or waited too long for a lock, and for a database that cannot be
 * reached; undefined for any other failure. At the edge only: workers tell these failures apart by themselves.
 */
export function asUnavailable(error: unknown): AppError | undefined {
  if (isOverTime(error)) return unavailable(message('database.slow'), RETRY_AFTER_MS, error);
  if (isDatabaseAway(error)) return unavailable(message('database.away'), RETRY_AFTER_MS, error);
  return undefined;
}
