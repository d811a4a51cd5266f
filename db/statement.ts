import type { Knex } from 'knex';
import { sha256 } from '../lib/crypto.ts';

export interface StatementResult<Row> {
  rows: Row[];
  /** Number of rows returned or written. */
  rowCount: number;
}

export type Bindings = Record<string, Knex.RawBinding | readonly unknown[]>;

/** A handle that adds options to its statements, such as their organization (tenancy.ts). */
interface WithOptions {
  statementOptions?: Readonly<Record<string, unknown>>;
}

/**
 * Runs SQL with named bindings immediately, for the scopes (tenancy.ts, across.ts). With DB_PREPARED_STATEMENTS, a
 * statement that runs often is prepared. Named bindings are translated only once per SQL text, and the result is passed
 * directly to knex's client. Building a knex query for every call would take longer than all other work for a short
 * statement.
 * @param name name under which the statement is prepared from its first run on; null never prepares it
 */
export function runStatement<Found>(
  db: Knex & WithOptions,
  text: string,
  bindings: Bindings,
  name?: string | null,
): Promise<StatementResult<Found>> {
  const entry = entryOf(text);
  const plan = db.userParams.prepared && name !== null ? (name ?? statementName(text, entry)) : undefined;
  const values = entry && valuesOf(entry, text, bindings);
  if (!entry?.sql || !values) {
    const query = db.raw(text, bindings as never);
    return (plan ? query.options({ name: plan }) : query).then((result: unknown) => result as StatementResult<Found>);
  }
  const client = db.client as KnexClient;
  const options = { ...db.statementOptions, ...(plan ? { name: plan } : {}) };
  // Sends the statement without awaiting anything first, so that statements of a transaction keep their order.
  return client.acquireConnection().then(async (connection) => {
    try {
      const { response } = await client.query(connection, { method: 'raw', sql: entry.sql, bindings: values, options });
      return response as StatementResult<Found>;
    } finally {
      await client.releaseConnection(connection);
    }
  });
}

/** Methods of knex's client used in this file. A transaction's client always returns its own connection. */
interface KnexClient {
  acquireConnection(): Promise<unknown>;
  releaseConnection(connection: unknown): Promise<void>;
  query(connection: unknown, query: object): Promise<{ response: unknown }>;
}

/** Cache entry of an SQL text: number of executions, name of its plan, and its translated form, if any. */
interface Entry {
  count: number;
  name: string | undefined;
  /** Text with `?` for each binding. Null until translated, undefined if knex must build it every time. */
  sql: string | null | undefined;
  /** Names of the bindings in the order of their placeholders. */
  keys: string[];
  /** Names that only look like bindings, such as the type of a cast. */
  others: string[];
}

function entryOf(text: string): Entry | undefined {
  let entry = seen.get(text);
  if (!entry && seen.size < MAX_SEEN) {
    entry = { count: 0, name: undefined, sql: null, keys: [], others: [] };
    seen.set(text, entry);
  }
  return entry;
}

/** Matches a binding (`:name`) or a cast (`::type`). An identifier binding (`:name:`) is passed to knex. */
const BINDING = /\\?(?::(\w+):(?=::)|:(\w+):(?!:)|:(\w+))/g;

/** Returns the values of the bindings in the order of the placeholders. Undefined if knex has to process them. */
function valuesOf(entry: Entry, text: string, bindings: Bindings): unknown[] | undefined {
  if (entry.sql === null) translate(entry, text, bindings);
  if (entry.others.some((key) => Object.hasOwn(bindings, key))) return undefined;
  const values = entry.keys.map((key) => bindings[key]);
  return values.every(isPlain) ? values : undefined;
}

function translate(entry: Entry, text: string, bindings: Bindings): void {
  const keys: string[] = [];
  const others = new Set<string>();
  let plain = true;
  const sql = text.replace(BINDING, (match, _cast?: string, _identifier?: string, key?: string) => {
    if (key === undefined || match.startsWith('\\')) {
      plain = false;
      return match;
    }
    if (!Object.hasOwn(bindings, key)) {
      others.add(key);
      return match;
    }
    keys.push(key);
    return '?';
  });
  Object.assign(entry, plain ? { sql, keys, others: [...others] } : { sql: undefined });
}

/** Returns true for a value that is passed to PostgreSQL unchanged. Returns false for query fragments. */
function isPlain(value: unknown): boolean {
  if (value === undefined || typeof value === 'function') return false;
  return typeof value !== 'object' || value === null || !('toSQL' in value);
}

/**
 * Number of executions after which a text is prepared. A text that is repeated this often is probably a constant in the
 * code, not assembled per request.
 */
const PREPARE_AFTER = 5;
const MAX_PREPARED = 250;
const MAX_SEEN = 2_000;
/** Matches statements that return whole rows. Their plans fail after a migration adds a column. */
const WHOLE_ROWS = /\bselect\s+\*|\breturning\s+\*|\.\*/i;
const seen = new Map<string, Entry>();
let prepared = 0;

/** Returns the name of a statement's plan on each connection. Undefined for a statement that is not prepared. */
function statementName(text: string, entry: Entry | undefined): string | undefined {
  if (
    entry &&
    entry.name === undefined &&
    ++entry.count === PREPARE_AFTER &&
    prepared < MAX_PREPARED &&
    !WHOLE_ROWS.test(text)
  ) {
    prepared += 1;
    entry.name = `heron_${sha256(text).slice(0, 16)}`;
  }
  return entry?.name;
}
