import type { Knex } from 'knex';
import { sha256 } from '../lib/crypto.ts';

export interface StatementResult<Row> {
  rows: Row[];
  /** Rows returned or written. */
  rowCount: number;
}

export type Bindings = Record<string, Knex.RawBinding | readonly unknown[]>;

/**
 * Runs SQL with named bindings, at once, for the scopes (tenancy.ts, across.ts). Where the installation keeps plans, a
 * frequent text is prepared.
 * @param name prepares the statement from its first run on, under this name, without waiting until it is frequent
 */
export function runStatement<Found>(
  db: Knex,
  text: string,
  bindings: Bindings,
  name?: string,
): Promise<StatementResult<Found>> {
  const query = db.raw(text, bindings as never);
  const plan = db.userParams.prepared ? (name ?? statementName(text)) : undefined;
  return (plan ? query.options({ name: plan }) : query).then((result: unknown) => result as StatementResult<Found>);
}

/** A text that ran this often is worth preparing: it is a constant of the code, not assembled per request. */
const PREPARE_AFTER = 5;
const MAX_PREPARED = 250;
const MAX_SEEN = 2_000;
/** A plan that returns whole rows breaks when a migration adds a column under it. */
const WHOLE_ROWS = /\bselect\s+\*|\breturning\s+\*|\.\*/i;
const seen = new Map<string, { count: number; name: string | undefined }>();
let prepared = 0;

/** The name under which each connection keeps a statement's plan; undefined for one that is not prepared. */
function statementName(text: string): string | undefined {
  let entry = seen.get(text);
  if (!entry) {
    if (seen.size >= MAX_SEEN) return undefined;
    entry = { count: 0, name: undefined };
    seen.set(text, entry);
  }
  if (
    entry.name === undefined &&
    ++entry.count === PREPARE_AFTER &&
    prepared < MAX_PREPARED &&
    !WHOLE_ROWS.test(text)
  ) {
    prepared += 1;
    entry.name = `heron_${sha256(text).slice(0, 16)}`;
  }
  return entry.name;
}
