import type { Knex } from 'knex';
import type { Handle } from './connection.ts';
import { knexOf } from './raw.ts';
import type { NewRow, Row, TableName } from './rows.ts';
import { runStatement, type Bindings, type StatementResult } from './statement.ts';
import type { InsertQuery, TableQuery } from './table-query.ts';

/**
 * Reason why code may access rows of several organizations, or of none.
 * - `credential`: a look-up by the hash of a secret, a mailed token or a signed link, before the organization is known
 * - `person`: rows that belong to a person and not to an organization: accounts, sessions, memberships, open
 *   invitations
 * - `application`: rows of an OAuth application in every organization that granted it
 * - `engine`: loops that serve all organizations at once: fan-out, deliveries, mailbox leases, the outbox
 * - `maintenance`: sweeps, retention, readiness, starting missing workflows
 * - `operator`: the command line and the first setup
 */
type AcrossReason = 'credential' | 'person' | 'application' | 'engine' | 'maintenance' | 'operator';

/**
 * Returns a scope for rows of several organizations. The caller states the reason. Queries for one organization use
 * `OrgScope` instead.
 */
export function across(handle: Handle, _reason: AcrossReason): AcrossScope {
  return new AcrossScope(handle);
}

/** Queries on any table, over all organizations. Create it with {@link across}. */
export class AcrossScope {
  readonly #knex: Knex;

  constructor(handle: Handle) {
    this.#knex = knexOf(handle);
  }

  /** Starts a select, update or delete on the rows of one table. */
  table<T extends TableName>(name: T): TableQuery<T, Row<T>[]> {
    return this.#knex(name) as unknown as TableQuery<T, Row<T>[]>;
  }

  /** Inserts rows. Chain `.returning()` or `.onConflict()` as needed. */
  insert<T extends TableName>(name: T, rows: NewRow<T> | readonly NewRow<T>[]): InsertQuery<T, unknown> {
    return this.#knex(name).insert(rows as never) as unknown as InsertQuery<T, unknown>;
  }

  /**
   * Runs SQL with named bindings (`:name`) and returns the rows. The statement is sent immediately, even before the
   * result is awaited.
   */
  sql<Found = Record<string, any>>(text: string, bindings: Bindings = {}): Promise<Found[]> {
    return this.run<Found>(text, bindings).then(({ rows }) => rows);
  }

  /**
   * Variant of {@link AcrossScope.sql} that also returns the number of written rows.
   * @param plan name of a prepared statement; with it, the statement is prepared from its first run on
   */
  run<Found = Record<string, any>>(
    text: string,
    bindings: Bindings = {},
    plan?: string,
  ): Promise<StatementResult<Found>> {
    return runStatement<Found>(this.#knex, text, bindings, plan);
  }

  /** Runs a statement of a library, which uses `$1` placeholders, on a connection of the pool. */
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

  /** Returns an SQL fragment for use inside a query. */
  raw(text: string, bindings: Bindings = {}): Knex.Raw {
    return this.#knex.raw(text, bindings as never);
  }
}
