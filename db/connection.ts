import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import type { MeasuredClock } from '../lib/clock.ts';
import { switchRoles } from './tenant-role.ts';

/**
 * A pool of connections. It has no query methods: rows of an organization are reached through `OrgScope`
 * (tenancy.ts), work across organizations through `across` (across.ts), transactions through `inTransaction`
 * (transaction.ts). So a query that names no organization does not compile.
 */
export interface Db {
  /** Closes the pool. */
  destroy(): PromiseLike<void>;
  /** Only here so that the compiler distinguishes a pool or transaction from other objects. */
  readonly userParams: Record<string, unknown>;
}

/** An open transaction; without query methods, like a {@link Db}. */
export interface Trx extends Db {
  isCompleted(): boolean;
}

/** Either: what a statement runs on. */
export type Handle = Db | Trx;

const INT8 = 20;
const NUMERIC = 1700;
const DATE = 1082;

/** Counts and sums are small enough for a double; calendar days stay text. */
pg.types.setTypeParser(INT8, Number);
pg.types.setTypeParser(NUMERIC, Number);
pg.types.setTypeParser(DATE, (value) => value);

/** How long (ms) statements, waits for locks and idle transactions may last; 0 is unlimited. */
export interface SessionTimeouts {
  statementMs: number;
  lockMs: number;
  idleTransactionMs: number;
}

interface ConnectOptions {
  /** postgres:// connection string */
  url: string;
  /** Connections the pool may hold; 20 when not given. */
  max?: number;
  /** Shown in pg_stat_activity. */
  name?: string;
  /** What PostgreSQL ends by itself; nothing when not given. */
  timeouts?: SessionTimeouts;
  /** Keep the plans of frequent statements per connection (DB_PREPARED_STATEMENTS). */
  prepared?: boolean;
  /** Statements of an organization run in a role that row-level security binds (ROW_SECURITY). */
  rowSecurity?: boolean;
  /** Measured against the server at each new connection, before its first statement. */
  clock?: MeasuredClock;
}

/** Opens a pool on PRIMARY_DB. Lists (jsonb arrays) must be passed as JSON text; use {@link json}. */
export function connect(options: ConnectOptions): Db {
  return connectRaw(options);
}

/** Like {@link connect}, for migrations, tests and measurements: a pool with knex's query methods. */
export function connectRaw(options: ConnectOptions): Knex {
  const { prepared = false, rowSecurity = false } = options;
  const knex = knexFactory({
    client: 'pg',
    // Statements of one transaction that do not wait for each other's answers are sent together, and run in their order.
    connection: {
      connectionString: options.url,
      application_name: options.name ?? 'heron',
      pipeline: true,
      ...(options.timeouts
        ? {
            statement_timeout: options.timeouts.statementMs,
            lock_timeout: options.timeouts.lockMs,
            idle_in_transaction_session_timeout: options.timeouts.idleTransactionMs,
          }
        : {}),
    } as Knex.StaticConnectionConfig,
    pool: {
      min: 0,
      max: options.max ?? 20,
      afterCreate(connection: pg.Client, done: (error: Error | null) => void) {
        leaveStandby(connection);
        void (options.clock?.measure(() => readServerMs(connection)) ?? Promise.resolve()).then(() => {
          if (rowSecurity) switchRoles(connection, prepared, done);
          else done(null);
        });
      },
    },
    userParams: { prepared, rowSecurity },
    acquireConnectionTimeout: 10_000,
    // Knex would also print, with a stack, what it throws to the caller.
    log: { warn: () => {}, error: () => {} },
    // Values stay out of the statement that knex puts before an error's message.
    compileSqlOnError: false,
  } as Knex.Config);
  sendBeginWithFirst(knex);
  knex.on('query-error', (error: Error, { sql }: { sql: string }) => {
    const said = `${sql} - `;
    if (error.message.startsWith(said)) error.message = error.message.slice(said.length);
    Object.assign(error, { statement: sql });
  });
  return knex;
}

/** The statement that measures a {@link MeasuredClock}. Exported for the one that measures it again and again. */
export const SERVER_MS = 'select extract(epoch from clock_timestamp())::float8 * 1000 as ms';

async function readServerMs(connection: pg.Client): Promise<number> {
  const { rows } = await connection.query<{ ms: number }>(SERVER_MS);
  return rows[0]!.ms;
}

/** What {@link leaveStandby} knows of a connection of the pool, beyond its declared types. */
interface Pooled {
  connection: { on(event: 'errorMessage', listener: (error: { code?: string }) => void): void };
  /** Why knex does not use it again. */
  __knex__disposed?: string;
}

const READ_ONLY = '25006';

/**
 * Has the pool give a connection up whose server takes no writes: it has become a standby, and the next connection is made to the one that is primary by now. A connection
 * that is never idle would stay there for ever.
 */
function leaveStandby(connection: pg.Client): void {
  const pooled = connection as unknown as Pooled;
  pooled.connection.on('errorMessage', ({ code }) => {
    if (code === READ_ONLY) pooled.__knex__disposed = 'the server is read-only';
  });
}

/** What {@link sendBeginWithFirst} knows of knex's transactions. */
interface Beginning {
  begin(connection: unknown): Promise<unknown>;
}

/**
 * Has the first statement of a transaction be sent with its BEGIN, and not when that is answered: a round trip less. Where BEGIN fails, knex ends
 * the transaction with its error, and takes no further statement.
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

/** A value for a jsonb column. node-postgres would write a bare array as a PostgreSQL array. */
export function json(value: unknown): string {
  return JSON.stringify(value ?? null);
}
