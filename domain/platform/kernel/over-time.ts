import { isDatabaseUnavailable, isOverTime } from '../../../db/errors.ts';
import { unavailable, type AppError } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';

/** Retry-After (ms) for a request that the database could not serve in time. */
const RETRY_AFTER_MS = 5_000;

/**
 * Returns a 503 with Retry-After for a statement or lock timeout and for an unreachable database; undefined for other
 * errors. Only for the API, because workers distinguish these errors themselves.
 */
export function asUnavailable(error: unknown): AppError | undefined {
  if (isOverTime(error)) return unavailable(message('database.slow'), RETRY_AFTER_MS, error);
  if (isDatabaseUnavailable(error)) return unavailable(message('database.away'), RETRY_AFTER_MS, error);
  return undefined;
}
