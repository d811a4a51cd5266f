import type pg from 'pg';
import { every, type Repeated } from '../lib/every.ts';
import { openClient } from './connection-options.ts';

/** Interval (ms) at which open statements are looked at. One that is open at two looks in a row is asked about. */
const LOOK_MS = 5_000;
/** Time (ms) for the server's answer about open statements. */
const ASK_MS = 5_000;
/** Time (ms) by which an answer may exceed the server's own limit for statements. */
const LATE_MS = 10_000;
/** SQLSTATE of a server that is there and has no connection left. */
const TOO_MANY_CONNECTIONS = '53300';

export interface UnansweredOptions {
  /** postgres:// connection string of the watched connections. */
  url: string;
  /** Application name of the watched connections. */
  name: string;
  /** The server's limit (ms) for a statement; 0 is unlimited. */
  statementMs: number;
  /** Called with the number of connections that were dropped at once. */
  onDropped: (connections: number) => void;
}

/** Undeclared parts of node-postgres's client that {@link dropUnanswered} uses. */
interface Watched extends pg.Client {
  processID: number;
  connection: { stream: { destroy(error?: Error): void } };
  _getActiveQuery(): object | null;
  getTransactionStatus(): string | null;
}

interface Seen {
  statement: object | null;
  /** Number of consecutive looks at which the statement was open, besides the first. */
  looks: number;
}

/**
 * Returns a function that watches a connection of a pool until it ends. A connection is dropped, and its statements
 * fail, when the server no longer works on its statement. No length of a statement proves that: a long one is as silent
 * as a lost one. So a new connection asks the server which of the open statements run. If it cannot connect, or they do
 * not run, the old connections are lost, and the pool's idle ones are dropped with them.
 *
 * Behind a pooler the server does not know our connections. There a statement is lost when the server would have ended
 * it by its own limit.
 */
export function dropUnanswered(options: UnansweredOptions): (connection: pg.Client) => void {
  const watched = new Map<Watched, Seen>();
  let looking: Repeated | undefined;
  const look = async () => {
    for (const [connection, seen] of watched) {
      const statement = connection._getActiveQuery() ?? null;
      watched.set(connection, { statement, looks: statement && statement === seen.statement ? seen.looks + 1 : 0 });
    }
    const silent = [...watched].filter(([, { looks }]) => looks > 0);
    if (silent.length === 0) return;
    const running = await runningAmong(
      options,
      silent.map(([{ processID }]) => processID),
    );
    const isLost = ([connection, { statement, looks }]: [Watched, Seen]): boolean => {
      if (connection._getActiveQuery() !== statement) return false;
      if (options.statementMs > 0 && looks * LOOK_MS > options.statementMs + LATE_MS) return true;
      return running !== undefined && !running.has(connection.processID);
    };
    const lost = silent.filter(isLost);
    if (lost.length === 0) return;
    const idle = [...watched].filter(
      ([connection]) => !connection._getActiveQuery() && connection.getTransactionStatus() === 'I',
    );
    for (const [connection] of [...lost, ...idle]) drop(connection);
    options.onDropped(lost.length + idle.length);
  };
  return (client) => {
    const connection = client as Watched;
    watched.set(connection, { statement: null, looks: 0 });
    looking ??= every('unanswered statements', LOOK_MS, look, () => {});
    connection.once('end', () => {
      watched.delete(connection);
      if (watched.size > 0) return;
      void looking?.stop();
      looking = undefined;
    });
  };
}

function drop(connection: Watched): void {
  const error = Object.assign(new Error('the database did not answer'), { code: 'ETIMEDOUT' });
  connection.connection.stream.destroy(error);
}

/**
 * Returns the connections, by the process id of their server process, whose statement runs. Empty if the server cannot
 * be reached, undefined if it does not say.
 */
async function runningAmong(
  { url, name }: UnansweredOptions,
  processIds: readonly number[],
): Promise<ReadonlySet<number> | undefined> {
  let client: Watched | undefined;
  try {
    client = (await openClient(url, `${name}-watch`)) as Watched;
    // The state is hidden without track_activities, and then counts as running.
    const { rows } = await client.query<{ own: number; running: number[] }>({
      text: `select pg_backend_pid() as own, array(select pid from pg_stat_activity
        where pid = any($1) and coalesce(state, '') not like 'idle%') as running`,
      values: [processIds],
      query_timeout: ASK_MS,
    } as pg.QueryConfig);
    const isPooled = rows[0]!.own !== client.processID;
    return isPooled ? undefined : new Set(rows[0]!.running);
  } catch (error) {
    return (error as { code?: string }).code === TOO_MANY_CONNECTIONS ? undefined : new Set();
  } finally {
    // Not awaited, because a server that does not answer does not end it either.
    void client?.end();
  }
}
