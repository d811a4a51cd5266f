import pg from 'pg';

/** Why the catalogue gave no answer. `missing`: it has no tables. `unreachable`: no connection. `slow`: no answer in time. `large`: more bytes than are read. */
export class CatalogueError extends Error {
  readonly reason: 'missing' | 'unreachable' | 'slow' | 'large';

  constructor(reason: CatalogueError['reason'], cause?: unknown) {
    super(`The prospect catalogue is ${reason}`, { cause });
    this.name = 'CatalogueError';
    this.reason = reason;
  }
}

interface CatalogueReaderOptions {
  /** postgres:// connection string of a role that may read. */
  url: string;
  /** Queries of this process at once; 4 when not given. */
  slots?: number;
  /** How long (ms) one query may take, with the wait for its slot and for a connection; 32 s when not given. */
  deadlineMs?: number;
  /** Bytes of text that one answer may have; 8 MiB when not given. */
  maxAnswerBytes?: number;
  /** Rows that a search looks at in the order of its list, at least, before it asks the indexes of its filters; 8,000 when not given. */
  shortestWalk?: number;
}

/** Reads the prospect catalogue, over connections of its own: a slow search there takes none of PRIMARY_DB. */
export interface CatalogueReader {
  readonly shortestWalk: number;
  /**
   * Runs one statement with named bindings (`:name`), read-only.
   * @throws CatalogueError for every failure that is not a fault of the statement
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
/** Classes of answers with which PostgreSQL says that it does not serve: connections, resources, shutdown, sign-in, an unknown database. */
const NOT_SERVING = /^(08|53|57|28|3D|42501)/;
const CANCELED = '57014';

/** Opens the way to the catalogue. No connection is made before the first query. */
export function openCatalogue(options: CatalogueReaderOptions): CatalogueReader {
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
  const maxBytes = options.maxAnswerBytes ?? MAX_ANSWER_BYTES;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.slots ?? SLOTS,
    connectionTimeoutMillis: deadlineMs,
    statement_timeout: deadlineMs,
    application_name: 'heron-catalogue',
    // Searches take milliseconds: compiling one, which PostgreSQL begins for large tables, takes longer than running it. And what an index finds in ten million
    // rows has to be remembered row by row: with less memory it is pages, of which every row is looked at.
    options: '-c default_transaction_read_only=on -c jit=off -c work_mem=32MB',
  });
  // An idle connection that ends is replaced by the next query.
  pool.on('error', () => {});
  return {
    shortestWalk: options.shortestWalk ?? SHORTEST_WALK,
    async query<Row>(text: string, bindings: Readonly<Record<string, unknown>> = {}): Promise<Row[]> {
      const until = performance.now() + deadlineMs;
      const client = await pool.connect().catch((error: Error) => {
        throw new CatalogueError(/timeout/i.test(error.message) ? 'slow' : 'unreachable', error);
      });
      const outcome = await ask<Row>(client, numbered(text, bindings), until - performance.now(), maxBytes);
      // A conversation that was left before its end cannot be used again.
      client.release(outcome instanceof CatalogueError && outcome.reason !== 'missing');
      if (Array.isArray(outcome)) return outcome;
      throw outcome;
    },
    close: () => pool.end(),
  };
}

/** Runs a statement and collects its rows, up to a time (ms) and to a size. */
function ask<Row>(
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

/** A statement with the placeholders of the protocol; a name that occurs twice is one value. */
function numbered(text: string, bindings: Readonly<Record<string, unknown>>): { text: string; values: unknown[] } {
  const names: string[] = [];
  const sql = text.replace(/(?<!:):(\w+)/g, (match, name: string) => {
    if (!Object.hasOwn(bindings, name)) return match;
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text: sql, values: names.map((name) => bindings[name]) };
}
