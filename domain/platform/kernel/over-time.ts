import { isDatabaseUnavailable, isOverTime } from '../../../db/errors.ts';
import { unavailable, type AppError } from '../../../lib/errors.ts';
import { ShareUsedUp } from '../../../lib/fair-queue.ts';
import { message } from '../../../messages/index.ts';

/** Retry-After (ms) for a request that the database could not serve in time. */
const RETRY_AFTER_MS = 5_000;

/**
 * Returns a 503 with Retry-After for a statement or lock timeout, for an unreachable database, and when the workspace's
 * share of connections was in use for too long. Undefined for other errors. Call it only in the API, because workers
 * handle these errors in another way.
 */
export function asUnavailable(error: unknown): AppError | undefined {
  if (error instanceof ShareUsedUp) return unavailable(message('database.share'), RETRY_AFTER_MS, error);
  if (isOverTime(error)) return unavailable(message('database.slow'), RETRY_AFTER_MS, error);
  if (isDatabaseUnavailable(error)) return unavailable(message('database.away'), RETRY_AFTER_MS, error);
  return undefined;
}
