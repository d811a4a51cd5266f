import type pg from 'pg';
import { every, type Repeated } from '../lib/every.ts';
import { openClient } from './connection-options.ts';

/**
 * Interval (ms) of checking open statements. The server is queried about a statement that is open at two consecutive
 * checks.
 */
const CHECK_MS = 5_000;
/** Timeout (ms) of the server's answer about open statements. */
const ASK_MS = 5_000;
/** Time (ms) by which a statement may exceed the server's own time limit before it counts as lost. */
const LATE_MS = 10_000;
/** SQLSTATE of a reachable server without a free connection. */
const TOO_MANY_CONNECTIONS = '53300';

interface UnansweredOptions {
  /** postgres:// connection string of the watched connections. */
  url: string;
  /** Application name of the watched connections. */
  name: string;
  /** The server's limit (ms) for a statement; 0 is unlimited. */
  statementMs: number;
  /** Called with the number of connections that were dropped. */
  onDropped: (connections: number) => void;
}

/** Parts of node-postgres's client that {@link dropUnanswered} uses and its types do not declare. */
interface Watched {
  processID: number;
  connection: { stream: { destroy(error?: Error): void } };
  _getActiveQuery(): object | null;
  getTransactionStatus(): string | null;
}

interface Seen {
  statement: object | null;
  /** Number of consecutive checks at which the statement was open, not counting the first. */
  checks: number;
}

/**
 * Returns a function that watches a connection of a pool until it ends. A connection is dropped, and its statements
 * fail, when the server no longer runs its statement. A long duration is no proof, because PostgreSQL sends nothing
 * while a statement runs. So a new connection queries which of the open statements are running. If it cannot connect,
 * or the statements are not running, the old connections are lost, and the pool's idle ones are dropped too.
 *
 * Behind a pooler the server does not know the connections of this process. A statement then counts as lost once the
 * server's own time limit for statements has passed.
 */
export function dropUnanswered(options: UnansweredOptions): (connection: pg.Client) => void {
  const watched = new Map<Watched, Seen>();
  /** Process ids of dropped connections' sessions, which may still be open at the server. */
  const left = new Set<number>();
  let checking: Repeated | undefined;
  const check = async () => {
    for (const [connection, seen] of watched) {
      const statement = connection._getActiveQuery() ?? null;
      watched.set(connection, { statement, checks: statement && statement === seen.statement ? seen.checks + 1 : 0 });
    }
    const silent = [...watched].filter(([, { checks }]) => checks > 0);
    if (silent.length === 0 && left.size === 0) return;
    const server = await reach(options);
    try {
      const running = await server.runningAmong(silent.map(([{ processID }]) => processID));
      const lost = silent.filter(
        ([connection, { statement, checks }]) =>
          // The statement may have been answered in the meantime.
          connection._getActiveQuery() === statement &&
          (running?.has(connection.processID) === false ||
            (options.statementMs > 0 && checks * CHECK_MS > options.statementMs + LATE_MS)),
      );
      if (lost.length > 0) dropWithIdle(lost.map(([connection]) => connection));
      if (running && (await server.endSessions([...left]))) left.clear();
    } finally {
      server.close();
    }
  };
  const dropWithIdle = (lost: readonly Watched[]): void => {
    const idle = [...watched.keys()].filter(
      (connection) => !connection._getActiveQuery() && connection.getTransactionStatus() === 'I',
    );
    for (const connection of [...lost, ...idle]) {
      left.add(connection.processID);
      drop(connection);
    }
    options.onDropped(lost.length + idle.length);
  };
  return (client) => {
    const connection = client as unknown as Watched;
    watched.set(connection, { statement: null, checks: 0 });
    checking ??= every('unanswered statements', CHECK_MS, check, () => {});
    client.once('end', () => {
      watched.delete(connection);
      if (watched.size > 0) return;
      void checking?.stop();
      checking = undefined;
    });
  };
}

function drop(connection: Watched): void {
  const error = Object.assign(new Error('the database did not answer'), { code: 'ETIMEDOUT' });
  connection.connection.stream.destroy(error);
}

/** Queries to the server over a new connection. Sessions are identified by their process ids. */
interface Server {
  /**
   * Returns the sessions that are running a statement. Empty if the server is unreachable, undefined if it does not
   * report its sessions.
   */
  runningAmong(processIds: readonly number[]): Promise<ReadonlySet<number> | undefined>;
  /**
   * Ends sessions that have been idle for a while. Sessions of lost connections hold their locks until the server
   * notices the loss.
   * @returns false if the server cannot be reached
   */
  endSessions(processIds: readonly number[]): Promise<boolean>;
  close(): void;
}

async function reach({ url, name }: UnansweredOptions): Promise<Server> {
  const opened = await openClient(url, `${name}-watch`).catch((error: Error & { code?: string }) => error);
  if (opened instanceof Error) {
    const running = opened.code === TOO_MANY_CONNECTIONS ? undefined : new Set<number>();
    return { runningAmong: async () => running, endSessions: async () => false, close: () => {} };
  }
  const ask = async <Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> =>
    (await opened.query<Row>({ text, values, query_timeout: ASK_MS } as pg.QueryConfig)).rows;
  return {
    async runningAmong(processIds) {
      try {
        // If `track_activities` is off, the state is empty and counts as running.
        const [row] = await ask<{ own: number; running: number[] }>(
          `select pg_backend_pid() as own, array(select pid from pg_stat_activity
             where pid = any($1) and coalesce(state, '') not like 'idle%') as running`,
          [processIds],
        );
        // Behind a pooler, the ids belong to other sessions, so the result is unknown.
        return row!.own === (opened as unknown as Watched).processID ? new Set(row!.running) : undefined;
      } catch {
        return new Set();
      }
    },
    async endSessions(processIds) {
      await ask(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where pid = any($1) and application_name = $2 and state like 'idle%'
           and state_change < now() - $3 * interval '1 millisecond'`,
        [processIds, name, CHECK_MS],
      );
      return true;
    },
    // Does not await the end, because a server that does not answer does not end the connection either.
    close: () => void opened.end(),
  };
}
