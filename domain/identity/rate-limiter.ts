import { across } from '../../db/across.ts';
import type { Db } from '../../db/connection.ts';
import { createRateLimiter, memoryCounters, postgresCounters, redisCounters } from '../../lib/rate-limit.ts';
import type { PgQuery, RateLimiter } from '../../lib/rate-limit.ts';
import type { Deps } from '../platform/kernel/context.ts';

/** Opens the rate limiter of RATE_LIMIT_STORE. Close it together with its server. */
export function openRateLimiter({
  clock,
  config,
  db,
  log,
}: Pick<Deps, 'clock' | 'config' | 'db' | 'log'>): RateLimiter {
  switch (config.RATE_LIMIT_STORE) {
    case 'memory':
      return createRateLimiter(clock, memoryCounters());
    case 'postgres':
      return createRateLimiter(clock, postgresCounters(queryOn(db)));
    case 'redis':
      return createRateLimiter(
        clock,
        redisCounters(config.REDIS_URL!, (error) =>
          log.warn({ err: error }, 'Redis cannot be reached for rate limits'),
        ),
      );
  }
}

/**
 * Returns a function that runs the library's statements on a connection of Heron's pool. Statements are prepared only
 * with DB_PREPARED_STATEMENTS.
 */
function queryOn(db: Db): PgQuery {
  return (query) => across(db, 'engine').foreign(query);
}
