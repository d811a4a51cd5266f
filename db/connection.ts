import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import type { MeasuredClock } from '../lib/clock.ts';
import { connectionOptions } from './connection-options.ts';
import { createNotifier, type Notifier } from './notifier.ts';
import { sharePool } from './shared-pool.ts';
import { switchRoles } from './tenant-role.ts';
import { dropUnanswered } from './unanswered.ts';

/**
 * A pool of connections without query methods. For rows of one organization use `OrgScope` (tenancy.ts), for rows of
 * several `across` (across.ts), for transactions `inTransaction` (transaction.ts). So a query without an organization
 * does not compile.
 */
export interface Db {
  /** Closes all connections of the pool. */
  destroy(): PromiseLike<void>;
  /** Property by which the compiler distinguishes a pool or transaction from other objects. */
  readonly userParams: Record<string, unknown>;
}

/** An open transaction, without query methods like {@link Db}. */
export interface Trx extends Db {
  isCompleted(): boolean;
}

/** A pool or an open transaction, on which a statement runs. */
export type Handle = Db | Trx;

const INT8 = 20;
const NUMERIC = 1700;
const DATE = 1082;

/** Counts and sums are returned as numbers, because they are small enough for a double. Calendar days stay text. */
pg.types.setTypeParser(INT8, Number);
pg.types.setTypeParser(NUMERIC, Number);
pg.types.setTypeParser(DATE, (value) => value);

/** Time limits (ms) of statements, lock waits and idle transactions. 0 is unlimited. */
export interface SessionTimeouts {
  statementMs: number;
  lockMs: number;
  idleTransactionMs: number;
}

interface ConnectOptions {
  /** postgres:// connection string */
  url: string;
  /** Maximum number of connections in the pool. Default 20. */
  max?: number;
  /** Application name in pg_stat_activity. */
  name?: string;
  /** Time limits enforced by PostgreSQL. None by default. */
  timeouts?: SessionTimeouts;
  /** True to keep the plans of frequent statements on each connection (DB_PREPARED_STATEMENTS). */
  prepared?: boolean;
  /** True to run statements of an organization in a role that is subject to row-level security (ROW_SECURITY). */
  rowSecurity?: boolean;
  /** Clock to measure against the server on each new connection, before its first statement. */
  clock?: MeasuredClock;
  /** Called with the number of connections that were dropped because the server did not answer. */
  onDropped?: (connections: number) => void;
}

/** Opens a pool on PRIMARY_DB. Pass lists for jsonb columns as JSON text, with {@link json}. */
export function connect(options: ConnectOptions): Db {
  return connectRaw(options);
}

/** Variant of {@link connect} with knex's query methods, for migrations, tests and measurements. */
export function connectRaw(options: ConnectOptions): Knex {
  const {
    prepared = false,
    rowSecurity = false,
    url,
    max = 20,
    name = 'heron',
    timeouts,
    onDropped = () => {},
  } = options;
  const notifier = createNotifier(url);
  const watch = dropUnanswered({ url, name, statementMs: timeouts?.statementMs ?? 0, onDropped });
  const knex = knexFactory({
    client: 'pg',
    // Enables pipelining: statements of a transaction that do not await each other are sent together and run in order.
    connection: {
      ...connectionOptions(url, name),
      pipeline: true,
      ...(timeouts
        ? {
            statement_timeout: timeouts.statementMs,
            lock_timeout: timeouts.lockMs,
            idle_in_transaction_session_timeout: timeouts.idleTransactionMs,
          }
        : {}),
    } as Knex.StaticConnectionConfig,
    pool: {
      min: 0,
      max,
      afterCreate(connection: pg.Client, done: (error: Error | null) => void) {
        leaveStandby(connection);
        watch(connection);
        void (options.clock?.measure(() => readServerMs(connection)) ?? Promise.resolve()).then(() => {
          if (rowSecurity) switchRoles(connection, prepared, done);
          else done(null);
        });
      },
    },
    userParams: { prepared, rowSecurity, notifier },
    acquireConnectionTimeout: 10_000,
    // Without these functions, knex would also print the errors that it throws.
    log: { warn: () => {}, error: () => {} },
    // Makes knex put the statement without its values before an error's message.
    compileSqlOnError: false,
  } as Knex.Config);
  sendBeginWithFirst(knex);
  sharePool(knex, max);
  closeAfter(knex, notifier);
  knex.on('query-error', (error: Error, { sql }: { sql: string }) => {
    const said = `${sql} - `;
    if (error.message.startsWith(said)) error.message = error.message.slice(said.length);
    Object.assign(error, { statement: sql });
  });
  return knex;
}

/** Returns the server's time (epoch ms), to measure a {@link MeasuredClock}. */
export const SERVER_MS = 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms';

async function readServerMs(connection: pg.Client): Promise<number> {
  const { rows } = await connection.query<{ ms: number }>(SERVER_MS);
  return rows[0]!.ms;
}

/** Properties of a pooled connection that {@link leaveStandby} uses and the types do not declare. */
interface Pooled {
  connection: { on(event: 'errorMessage', listener: (error: { code?: string }) => void): void };
  /** Reason why knex does not reuse the connection. */
  __knex__disposed?: string;
}

const READ_ONLY = '25006';

/**
 * Discards a pooled connection whose server has become a read-only standby, so that the next connection uses the new
 * primary. A busy connection would otherwise stay with the standby indefinitely.
 */
function leaveStandby(connection: pg.Client): void {
  const pooled = connection as unknown as Pooled;
  pooled.connection.on('errorMessage', ({ code }) => {
    if (code === READ_ONLY) pooled.__knex__disposed = 'the server is read-only';
  });
}

/** Method of knex's transactions that {@link sendBeginWithFirst} replaces. */
interface Beginning {
  begin(connection: unknown): Promise<unknown>;
}

/**
 * Sends the first statement of a transaction together with its BEGIN, which saves a round trip. If BEGIN fails, knex
 * ends the transaction with its error and accepts no further statement.
 */
function sendBeginWithFirst(knex: Knex): void {
  const client = knex.client as { transaction(...options: unknown[]): Beginning };
  const { transaction: open } = client;
  client.transaction = function (...options) {
    const opened = open.apply(this, options);
    const { begin } = opened;
    opened.begin = function (connection) {
      void begin.call(this, connection);
      return Promise.resolve();
    };
    return opened;
  };
}

/** Closes the notifier of a pool after the pool itself, so that the notifications of its last commits are sent. */
function closeAfter(knex: Knex, notifier: Notifier): void {
  const client = knex.client as { destroy(done?: () => void): Promise<void> };
  const destroy = client.destroy.bind(client);
  client.destroy = async (done) => {
    await destroy();
    await notifier.close();
    done?.();
  };
}

/** Returns a value as text for a jsonb column. node-postgres would write a bare array as a PostgreSQL array. */
export function json(value: unknown): string {
  return JSON.stringify(value ?? null);
}
