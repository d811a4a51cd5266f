import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = { locks: {}, secondsAtMillionRows: 0 };

/**
 * Counters of the rate limiter, when RATE_LIMIT_STORE is `postgres`. Its columns are those that rate-limiter-flexible writes;
 * `expire` is in ms since 1970. Not logged: a crash of PostgreSQL may forget a minute's counts.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create unlogged table rate_limit_counts (
      key text primary key,
      points integer not null default 0,
      expire bigint
    );
    create index rate_limit_counts_expiry on rate_limit_counts (expire);
  `);
}
