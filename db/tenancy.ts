import type { Knex } from 'knex';
import type { Handle } from './connection.ts';
import { knexOf } from './raw.ts';
import { insertOrg, queryOrg, type NewEntity, type OrgEntity } from './models/model.ts';
import type { NewOrgRow, OrgTable, Row } from './rows.ts';
import { runStatement, type Bindings } from './statement.ts';
import type { EntityQuery, InsertQuery, TableQuery } from './table-query.ts';

/** SQL text that names its organization; a literal without `:org` does not compile. */
type OrgSql = `${string}:org${string}`;

/**
 * The only way to an organization's rows. A query cannot be built without an organization:
 * {@link OrgScope.query} and {@link OrgScope.table} filter by the organization, {@link OrgScope.sql} takes only text that binds `:org`.
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
   * The same rows; statements of {@link OrgScope.sql} are planned anew each time, for the values that they are asked with. For reports: which plan is best
   * depends on how much a campaign or a span of time holds, and a kept plan is made for an average one.
   */
  withoutKeptPlans(): OrgScope {
    return new OrgScope(this.#handle, this.organizationId, { keepsPlans: false });
  }

  /** A query on the organization's rows of one table: select, update or delete, already filtered. */
  table<T extends OrgTable>(name: T): TableQuery<T, Row<T>[]> {
    return this.#trx(name).where(`${name}.organization_id`, this.organizationId) as unknown as TableQuery<T, Row<T>[]>;
  }

  /** An objection query on the organization's rows of an entity: select, patch or delete, already filtered. */
  query<T extends OrgTable, J extends keyof Row<T>>(entity: OrgEntity<T, J>): EntityQuery<T, J, Row<T>[]> {
    return queryOrg(entity, this.#trx, this.organizationId);
  }

  /** Stores a new row of an entity and returns it as stored. */
  create<T extends OrgTable, J extends keyof Row<T>>(entity: OrgEntity<T, J>, row: NewEntity<T, J>): Promise<Row<T>> {
    return insertOrg(entity, this.#trx, this.organizationId, row);
  }

  /** Inserts rows, each stamped with the organization. Chain `.returning()` or `.onConflict()` as needed. */
  insert<T extends OrgTable>(name: T, rows: NewOrgRow<T> | readonly NewOrgRow<T>[]): InsertQuery<T, unknown> {
    const list = (Array.isArray(rows) ? rows : [rows]) as object[];
    return this.#trx(name).insert(
      list.map((row) => ({ ...row, organization_id: this.organizationId })),
    ) as unknown as InsertQuery<T, unknown>;
  }

  /**
   * Runs SQL with named bindings; `:org` is bound to the organization. Returns the rows. The statement is sent at once:
   * several of one transaction that do not wait for each other's answers run in the order of the calls.
   */
  sql<Row = Record<string, any>>(text: OrgSql, bindings: Bindings = {}): Promise<Row[]> {
    const values = { ...bindings, org: this.organizationId };
    return runStatement<Row>(this.#trx, text, values, this.#keepsPlans ? undefined : null).then(({ rows }) => rows);
  }

  /**
   * The rows of a select in batches, by a cursor of the open transaction: no more than a batch is held. One at a time per transaction.
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
   * Waits for the lock of a name, which is held until the transaction ends. Sent at once, like {@link OrgScope.sql}.
   * @param keepPlans has the rest of the transaction use the kept plans of its statements whatever their bindings: PostgreSQL would plan
   *   many anew where a binding is a list. For hot paths whose statements are written for it.
   * @param isShared waits only for those who hold the lock alone, as it is without this, and keeps them waiting
   */
  lock(name: string, { keepPlans = false, isShared = false } = {}): Promise<void> {
    const lock = `pg_advisory_xact_lock${isShared ? '_shared' : ''}(hashtextextended(:name, 0))`;
    const text = keepPlans
      ? `select ${lock}, set_config('plan_cache_mode', 'force_generic_plan', true)`
      : `select ${lock}`;
    return runStatement(this.#trx, text, { name }).then(() => undefined);
  }

  /** Bounds the waits for row locks in this transaction, in ms; null goes back to what the process waits (DB_LOCK_TIMEOUT_MS). */
  async limitLockWaits(timeoutMs: number | null): Promise<void> {
    if (timeoutMs === null) await this.#trx.raw('set local lock_timeout to default');
    else await this.#trx.raw(`select set_config('lock_timeout', ?, true)`, [String(timeoutMs)]);
  }

  /**
   * Lets statements of this transaction sort and group in memory (MiB for each sort) in place of files; PostgreSQL also plans by it. For reports
   * over many rows.
   */
  async allowMemory(mebibytes: number): Promise<void> {
    await this.#trx.raw(`select set_config('work_mem', ?, true)`, [`${mebibytes}MB`]);
  }

  /** A raw fragment for use inside a scoped query. */
  raw(text: string, bindings: Bindings = {}): Knex.Raw {
    return this.#trx.raw(text, bindings as never);
  }
}

/**
 * A handle whose statements, objection's included, are those of one organization. Where row security is off, the handle
 * itself: statements then name their organization and nothing stands behind that.
 */
function knexOfOrganization(handle: Handle, organization: string): Knex {
  const knex = knexOf(handle);
  // Not of the handle: a nested transaction does not inherit its parameters.
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
