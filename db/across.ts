import type { Knex } from 'knex';
import type { Handle } from './connection.ts';
import { knexOf } from './raw.ts';
import type { NewRow, Row, TableName } from './rows.ts';
import { runStatement, type Bindings, type StatementResult } from './statement.ts';
import type { InsertQuery, TableQuery } from './table-query.ts';

/**
 * Why work may read or write rows of more than one organization, or of none.
 * - `credential`: a look-up by the hash of a secret, a mailed token or a signed link, before the organization is known
 * - `person`: rows that belong to a person and not to an organization: accounts, sessions, memberships, open invitations
 * - `application`: rows of an OAuth application in every organization that granted it
 * - `engine`: loops that serve all organizations at once: fan-out, deliveries, mailbox leases, the outbox
 * - `maintenance`: sweeps, retention, readiness, starting missing runs
 * - `operator`: the command line and the first setup
 */
type AcrossReason = 'credential' | 'person' | 'application' | 'engine' | 'maintenance' | 'operator';

/**
 * The one way to rows of several organizations. The caller names the reason; every other query belongs to one
 * organization and uses `OrgScope`.
 */
export function across(handle: Handle, _reason: AcrossReason): AcrossScope {
  return new AcrossScope(handle);
}

/** Queries on any table, over all organizations. Made by {@link across}. */
export class AcrossScope {
  readonly #knex: Knex;

  constructor(handle: Handle) {
    this.#knex = knexOf(handle);
  }

  /** A query on the rows of one table: select, update or delete. */
  table<T extends TableName>(name: T): TableQuery<T, Row<T>[]> {
    return this.#knex(name) as unknown as TableQuery<T, Row<T>[]>;
  }

  /** Inserts rows. Chain `.returning()` or `.onConflict()` as needed. */
  insert<T extends TableName>(name: T, rows: NewRow<T> | readonly NewRow<T>[]): InsertQuery<T, unknown> {
    return this.#knex(name).insert(rows as never) as unknown as InsertQuery<T, unknown>;
  }

  /** Runs SQL with named bindings (`:name`) and returns the rows. Sent at once, like `OrgScope.sql`. */
  sql<Found = Record<string, any>>(text: string, bindings: Bindings = {}): Promise<Found[]> {
    return this.run<Found>(text, bindings).then(({ rows }) => rows);
  }

  /**
   * Like {@link AcrossScope.sql}, with the number of rows that were written.
   * @param plan prepares the statement from its first run on, under this name, without waiting until it is frequent
   */
  run<Found = Record<string, any>>(
    text: string,
    bindings: Bindings = {},
    plan?: string,
  ): Promise<StatementResult<Found>> {
    return runStatement<Found>(this.#knex, text, bindings, plan);
  }

  /** Runs a statement of a library, with its own placeholders, on a connection of the pool. */
  async foreign(query: { name?: string; text: string; values?: unknown[] }): Promise<{ rows: any[] }> {
    const { client, userParams } = this.#knex;
    const connection = await client.acquireConnection();
    try {
      const { name, ...rest } = query;
      return await connection.query({ ...rest, ...(userParams.prepared ? { name } : {}) });
    } finally {
      await client.releaseConnection(connection);
    }
  }

  /** A raw fragment for use inside a query. */
  raw(text: string, bindings: Bindings = {}): Knex.Raw {
    return this.#knex.raw(text, bindings as never);
  }
}
