import pg from 'pg';
import { connectionOptions } from '../connection-options.ts';

/**
 * Failure of the prospect catalogue. `missing`: the database has no tables. `unreachable`: the connection failed.
 * `slow`: there was no answer in time. `large`: the answer exceeds the size limit.
 */
export class CatalogueError extends Error {
  readonly reason: 'missing' | 'unreachable' | 'slow' | 'large';

  constructor(reason: CatalogueError['reason'], cause?: unknown) {
    super(`The prospect catalogue is ${reason}`, { cause });
    this.name = 'CatalogueError';
    this.reason = reason;
  }
}

interface CatalogueReaderOptions {
  /** postgres:// connection string of a role with read access. */
  url: string;
  /** Maximum number of concurrent queries of this process. Default 4. */
  slots?: number;
  /** Timeout (ms) of one query, including the wait for its slot and for a connection. Default 32 s. */
  deadlineMs?: number;
  /** Maximum size (bytes) of the text of one answer. Default 8 MiB. */
  maxAnswerBytes?: number;
  /**
   * Number of rows that a search first scans in list order. Only if they are not enough does it use the indexes of its
   * filters. Default 8,000.
   */
  shortestWalk?: number;
}

/** Reads the prospect catalogue over its own connections, so that a slow search uses no connection of PRIMARY_DB. */
export interface CatalogueReader {
  readonly shortestWalk: number;
  /**
   * Executes one read-only statement with named bindings (`:name`).
   * @throws CatalogueError for every failure except a fault of the statement
   */
  query<Row>(text: string, bindings?: Readonly<Record<string, unknown>>): Promise<Row[]>;
  close(): Promise<void>;
}

const SLOTS = 4;
const DEADLINE_MS = 32_000;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const SHORTEST_WALK = 8_000;
const UNDEFINED_TABLE = '42P01';
const UNDEFINED_COLUMN = '42703';
/**
 * SQLSTATE classes of a server that cannot answer queries: failed connections, no resources, shutdown, failed sign-in,
 * unknown database.
 */
const NOT_SERVING = /^(08|53|57|28|3D|42501)/;
const CANCELED = '57014';

/** Creates a reader of the catalogue. The first query opens the connection. */
export function openCatalogue(options: CatalogueReaderOptions): CatalogueReader {
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
  const maxBytes = options.maxAnswerBytes ?? MAX_ANSWER_BYTES;
  const pool = new pg.Pool({
    ...connectionOptions(options.url, 'heron-catalogue'),
    max: options.slots ?? SLOTS,
    connectionTimeoutMillis: deadlineMs,
    statement_timeout: deadlineMs,
    // Disables JIT, because compiling a search takes longer than running it. Sets work_mem high enough for a bitmap of
    // ten million single rows. With less memory the bitmap contains only pages, and PostgreSQL checks every row of a
    // page.
    options: '-c default_transaction_read_only=on -c jit=off -c work_mem=32MB',
  });
  // Ignores errors of idle connections, because the next query opens a new connection.
  pool.on('error', () => {});
  return {
    shortestWalk: options.shortestWalk ?? SHORTEST_WALK,
    async query<Row>(text: string, bindings: Readonly<Record<string, unknown>> = {}): Promise<Row[]> {
      const until = performance.now() + deadlineMs;
      const client = await pool.connect().catch((error: Error) => {
        throw new CatalogueError(/timeout/i.test(error.message) ? 'slow' : 'unreachable', error);
      });
      const outcome = await runBounded<Row>(client, numbered(text, bindings), until - performance.now(), maxBytes);
      // A connection whose query did not complete cannot be reused.
      client.release(outcome instanceof CatalogueError && outcome.reason !== 'missing');
      if (Array.isArray(outcome)) return outcome;
      throw outcome;
    },
    close: () => pool.end(),
  };
}

/** Runs a statement and collects its rows, within a time limit (ms) and a size limit (bytes). */
function runBounded<Row>(
  client: pg.PoolClient,
  statement: { text: string; values: unknown[] },
  timeoutMs: number,
  maxBytes: number,
): Promise<Row[] | Error> {
  return new Promise((resolve) => {
    const rows: Row[] = [];
    let bytes = 0;
    const settle = (outcome: Row[] | Error) => {
      clearTimeout(timer);
      client.off('error', lost);
      resolve(outcome);
    };
    const lost = (error: Error) => settle(new CatalogueError('unreachable', error));
    const timer = setTimeout(() => settle(new CatalogueError('slow')), Math.max(0, timeoutMs));
    client.on('error', lost);
    const query = new pg.Query<never, unknown[]>(statement);
    query.on('row', (row: Row) => {
      bytes += Buffer.byteLength(JSON.stringify(row));
      if (bytes > maxBytes) settle(new CatalogueError('large'));
      else rows.push(row);
    });
    query.on('end', () => settle(rows));
    query.on('error', (error: Error) => settle(faultOf(error)));
    client.query(query);
  });
}

function faultOf(error: Error): Error {
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return new CatalogueError('unreachable', error);
  if (code === UNDEFINED_TABLE || code === UNDEFINED_COLUMN) return new CatalogueError('missing', error);
  if (code === CANCELED) return new CatalogueError('slow', error);
  return NOT_SERVING.test(code) ? new CatalogueError('unreachable', error) : error;
}

/**
 * Converts named bindings to the numbered placeholders of the protocol. If a name occurs twice, both placeholders have
 * the same number.
 */
function numbered(text: string, bindings: Readonly<Record<string, unknown>>): { text: string; values: unknown[] } {
  const names: string[] = [];
  const sql = text.replace(/(?<!:):(\w+)/g, (match, name: string) => {
    if (!Object.hasOwn(bindings, name)) return match;
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text: sql, values: names.map((name) => bindings[name]) };
}
