import type { Knex } from 'knex';
import type { Handle } from './connection.ts';
import { knexOf } from './raw.ts';
import { insertOrg, queryOrg, type NewEntity, type OrgEntity } from './models/model.ts';
import type { NewOrgRow, OrgTable, Row } from './rows.ts';
import { runStatement, type Bindings } from './statement.ts';
import type { EntityQuery, InsertQuery, TableQuery } from './table-query.ts';

/** SQL text that contains the binding `:org`. A literal without it does not compile. */
type OrgSql = `${string}:org${string}`;

/**
 * Scope for the rows of one organization. There is no other way to access them, except {@link across}. {@link
 * OrgScope.query} and {@link OrgScope.table} filter by the organization. {@link OrgScope.sql} accepts only text that
 * binds `:org`.
 */
export class OrgScope {
  readonly organizationId: string;
  readonly #handle: Handle;
  readonly #trx: Knex;
  readonly #keepsPlans: boolean;

  constructor(handle: Handle, organizationId: string, { keepsPlans = true } = {}) {
    this.#handle = handle;
    this.#trx = knexOfOrganization(handle, organizationId);
    this.#keepsPlans = keepsPlans;
    this.organizationId = organizationId;
  }

  /**
   * Returns a scope on the same rows whose {@link OrgScope.sql} statements get a new plan for their values each time.
   * Use it for reports, because their best plan depends on the size of a campaign or time range, and a cached plan
   * suits only the average size.
   */
  withoutKeptPlans(): OrgScope {
    return new OrgScope(this.#handle, this.organizationId, { keepsPlans: false });
  }

  /** Starts a select, update or delete on the organization's rows of one table, already filtered. */
  table<T extends OrgTable>(name: T): TableQuery<T, Row<T>[]> {
    return this.#trx(name).where(`${name}.organization_id`, this.organizationId) as unknown as TableQuery<T, Row<T>[]>;
  }

  /** Starts an objection select, patch or delete on the organization's rows of an entity, already filtered. */
  query<T extends OrgTable, J extends keyof Row<T>>(entity: OrgEntity<T, J>): EntityQuery<T, J, Row<T>[]> {
    return queryOrg(entity, this.#trx, this.organizationId);
  }

  /** Inserts a new row of an entity and returns it as stored. */
  create<T extends OrgTable, J extends keyof Row<T>>(entity: OrgEntity<T, J>, row: NewEntity<T, J>): Promise<Row<T>> {
    return insertOrg(entity, this.#trx, this.organizationId, row);
  }

  /** Inserts rows with the organization added. Chain `.returning()` or `.onConflict()` as needed. */
  insert<T extends OrgTable>(name: T, rows: NewOrgRow<T> | readonly NewOrgRow<T>[]): InsertQuery<T, unknown> {
    const list = (Array.isArray(rows) ? rows : [rows]) as object[];
    return this.#trx(name).insert(
      list.map((row) => ({ ...row, organization_id: this.organizationId })),
    ) as unknown as InsertQuery<T, unknown>;
  }

  /**
   * Runs SQL with named bindings, `:org` bound to the organization, and returns the rows. The statement is sent at
   * once. Several statements of one transaction that do not await each other run in call order.
   */
  sql<Row = Record<string, any>>(text: OrgSql, bindings: Bindings = {}): Promise<Row[]> {
    const values = { ...bindings, org: this.organizationId };
    return runStatement<Row>(this.#trx, text, values, this.#keepsPlans ? undefined : null).then(({ rows }) => rows);
  }

  /**
   * Returns the rows of a select in batches, by a cursor of the open transaction. Only one batch is in memory at a
   * time. Use one such call at a time per transaction.
   */
  async *inBatches<Row = Record<string, any>>(text: OrgSql, bindings: Bindings, size: number): AsyncGenerator<Row[]> {
    await runStatement(this.#trx, `declare batches no scroll cursor for ${text}`, {
      ...bindings,
      org: this.organizationId,
    });
    for (let full = true; full;) {
      const { rows } = await runStatement<Row>(this.#trx, `fetch ${Math.trunc(size)} from batches`, {});
      if (rows.length > 0) yield rows;
      full = rows.length === size;
    }
    await runStatement(this.#trx, 'close batches', {});
  }

  /**
   * Waits for an advisory lock by name, held until the transaction ends. The statement is sent at once, like {@link
   * OrgScope.sql}.
   * @param keepPlans forces cached plans for the rest of the transaction; otherwise PostgreSQL plans many statements
   * with a list as binding each time. Only for frequent statements that are written for cached plans
   * @param isShared takes the lock in shared mode: it conflicts only with exclusive holders
   */
  lock(name: string, { keepPlans = false, isShared = false } = {}): Promise<void> {
    const lock = `pg_advisory_xact_lock${isShared ? '_shared' : ''}(hashtextextended(:name, 0))`;
    const text = keepPlans
      ? `select ${lock}, set_config('plan_cache_mode', 'force_generic_plan', true)`
      : `select ${lock}`;
    return runStatement(this.#trx, text, { name }).then(() => undefined);
  }

  /**
   * Limits the waits for row locks in this transaction (ms). Null restores the process's limit (DB_LOCK_TIMEOUT_MS).
   */
  async limitLockWaits(timeoutMs: number | null): Promise<void> {
    if (timeoutMs === null) await this.#trx.raw('set local lock_timeout to default');
    else await this.#trx.raw(`select set_config('lock_timeout', ?, true)`, [String(timeoutMs)]);
  }

  /**
   * Sets the memory (MiB) that each sort or grouping in this transaction may use before it writes temporary files. The
   * limit also affects PostgreSQL's plans. Use it for reports over many rows.
   */
  async allowMemory(mebibytes: number): Promise<void> {
    await this.#trx.raw(`select set_config('work_mem', ?, true)`, [`${mebibytes}MB`]);
  }

  /** Returns an SQL fragment for use inside a query of this scope. */
  raw(text: string, bindings: Bindings = {}): Knex.Raw {
    return this.#trx.raw(text, bindings as never);
  }
}

/**
 * Returns a handle that marks its statements, including objection's, with one organization. Without ROW_SECURITY it
 * returns the handle itself. Then only the conditions of the statements separate organizations.
 */
function knexOfOrganization(handle: Handle, organization: string): Knex {
  const knex = knexOf(handle);
  // Reads the client's config instead of the handle's parameters, because a nested transaction does not inherit them.
  if (!(knex.client.config as Handle).userParams.rowSecurity) return knex;
  const scope = { organization };
  const ofTable = (name: string) => knex(name).options(scope);
  return Object.assign(ofTable, {
    client: knex.client,
    userParams: knex.userParams,
    statementOptions: scope,
    queryBuilder: () => knex.queryBuilder().options(scope),
    count: (column: string) => knex.queryBuilder().options(scope).count(column),
    raw: (text: string, bindings: never) => knex.raw(text, bindings).options(scope),
  }) as unknown as Knex;
}
