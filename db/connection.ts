import knexFactory, { type Knex } from 'knex';
import pg from 'pg';

export type Db = Knex;
export type Trx = Knex.Transaction;
/** Either: what a statement runs on. */
export type Handle = Db | Trx;

const INT8 = 20;
const NUMERIC = 1700;
const DATE = 1082;

/** Counts and sums fit a double here; calendar days stay the text they are. */
pg.types.setTypeParser(INT8, Number);
pg.types.setTypeParser(NUMERIC, Number);
pg.types.setTypeParser(DATE, (value) => value);

/**
 * Opens a pool on PRIMARY_DB. Lists (jsonb arrays) must be passed as JSON text; use {@link json}.
 * @param options.url postgres:// connection string
 * @param options.max connections the pool may hold
 * @param options.prepared keep the plans of frequent statements per connection (DB_PREPARED_STATEMENTS)
 */
export function connect(options: { url: string; max?: number; name?: string; prepared?: boolean }): Db {
  return knexFactory({
    client: 'pg',
    // Statements of one transaction that do not wait for each other's answers travel together, and run in their order.
    connection: {
      connectionString: options.url,
      application_name: options.name ?? 'heron',
      pipeline: true,
    } as Knex.StaticConnectionConfig,
    pool: { min: 0, max: options.max ?? 20 },
    acquireConnectionTimeout: 10_000,
    // Knex would print, with a stack, what it throws to the caller as well.
    log: { warn: () => {}, error: () => {} },
  }).withUserParams({ prepared: options.prepared ?? false });
}

/** A value for a jsonb column. node-postgres would write a bare array as a PostgreSQL array. */
export function json(value: unknown): string {
  return JSON.stringify(value ?? null);
}
