import type { Knex } from 'knex';
import { sha256 } from '../lib/crypto.ts';

export interface StatementResult<Row> {
  rows: Row[];
  /** Rows returned or written. */
  rowCount: number;
}

export type Bindings = Record<string, Knex.RawBinding | readonly unknown[]>;

/** A handle whose statements travel with something beside their text, such as whose rows they are about (tenancy.ts). */
interface WithOptions {
  statementOptions?: Readonly<Record<string, unknown>>;
}

/**
 * Runs SQL with named bindings, at once, for the scopes (tenancy.ts, across.ts). Where the installation keeps plans, a
 * frequent text is prepared. The text is translated once and handed to knex's client as it is: building a knex query anew for
 * every run costs more than the rest of what happens to a short statement in this process.
 * @param name prepares the statement from its first run on, under this name, without waiting until it is frequent; null: never
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
  // Nothing is awaited before the statement is sent, so statements of a transaction keep their order.
  return client.acquireConnection().then(async (connection) => {
    try {
      const { response } = await client.query(connection, { method: 'raw', sql: entry.sql, bindings: values, options });
      return response as StatementResult<Found>;
    } finally {
      await client.releaseConnection(connection);
    }
  });
}

/** What this file uses of knex's client: of a pool, or of a transaction, where the connection is always its own. */
interface KnexClient {
  acquireConnection(): Promise<unknown>;
  releaseConnection(connection: unknown): Promise<void>;
  query(connection: unknown, query: object): Promise<{ response: unknown }>;
}

/** A text that has run before: how often, the name of its plan, and its form with placeholders, where it has a plain one. */
interface Entry {
  count: number;
  name: string | undefined;
  /** With `?` where a binding stands; null until it is translated, undefined where knex has to build it every time. */
  sql: string | null | undefined;
  /** The bindings in the order of their places. */
  keys: string[];
  /** What looks like a binding and is none, such as the type of a cast. */
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

/** A binding (`:name`), beside casts (`::type`); one that is an identifier (`:name:`) is left to knex. */
const BINDING = /\\?(?::(\w+):(?=::)|:(\w+):(?!:)|:(\w+))/g;

/** The values of a run in the order of their places; undefined where knex has to look at them. */
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

/** Whether a value goes to PostgreSQL as it is; parts of queries do not. */
function isPlain(value: unknown): boolean {
  if (value === undefined || typeof value === 'function') return false;
  return typeof value !== 'object' || value === null || !('toSQL' in value);
}

/** A text that ran this often is worth preparing: it is a constant of the code, not assembled per request. */
const PREPARE_AFTER = 5;
const MAX_PREPARED = 250;
const MAX_SEEN = 2_000;
/** A plan that returns whole rows breaks when a migration adds a column under it. */
const WHOLE_ROWS = /\bselect\s+\*|\breturning\s+\*|\.\*/i;
const seen = new Map<string, Entry>();
let prepared = 0;

/** The name under which each connection keeps a statement's plan; undefined for one that is not prepared. */
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
