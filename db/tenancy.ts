import type { Knex } from 'knex';
import type { QueryBuilderType } from 'objection';
import type { Trx } from './connection.ts';
import { insertOrg, queryOrg, type OrgEntity, type OrgModel } from './models/model.ts';
import { runStatement } from './statement.ts';

/** Every table whose rows belong to one organization (column organization_id). */
export const ORG_TABLES = [
  'roles',
  'memberships',
  'invitations',
  'api_keys',
  'api_key_usage_logs',
  'api_key_usage_minutes',
  'idempotency_keys',
  'audit_logs',
  'domain_events',
  'contacts',
  'labels',
  'contact_categories',
  'contact_imports',
  'contact_import_problems',
  'suppressions',
  'mailboxes',
  'mailbox_tags',
  'mailbox_errors',
  'mailbox_sync',
  'mailbox_checks',
  'campaigns',
  'campaign_senders',
  'campaign_steps',
  'campaign_variants',
  'campaign_logs',
  'campaign_advanced',
  'outreach_settings',
  'enrollments',
  'step_runs',
  'waits',
  'sends',
  'tracked_links',
  'engagement_events',
  'deliverability_events',
  'inbound_messages',
  'daily_counters',
  'app_connections',
  'product_events',
  'dead_letters',
  'removed_steps',
  'segments',
  'blobs',
  'oauth_applications',
  'oauth_grants',
  'webhook_endpoints',
  'webhook_payloads',
  'webhook_deliveries',
  'webhook_attempts',
  'webhook_throttle_drops',
  'webhook_counts',
] as const;
export type OrgTable = (typeof ORG_TABLES)[number];

type Bindings = Record<string, Knex.RawBinding | readonly unknown[]>;
/** SQL text that names its organization; a literal without `:org` does not compile. */
type OrgSql = `${string}:org${string}`;

/**
 * The only way to an organization's rows. A query cannot be built without saying whose it is:
 * {@link OrgScope.query} and {@link OrgScope.table} filter by the organization, {@link OrgScope.sql} takes only text that binds `:org`.
 */
export class OrgScope {
  readonly organizationId: string;
  readonly #trx: Trx | Knex;

  constructor(trx: Trx | Knex, organizationId: string) {
    this.#trx = trx;
    this.organizationId = organizationId;
  }

  /** A query on the organization's rows of one table: select, update or delete, already filtered. */
  table<Row extends object = Record<string, any>>(name: OrgTable): Knex.QueryBuilder<Row, Row[]> {
    return this.#trx<Row>(name).where(`${name}.organization_id`, this.organizationId) as unknown as Knex.QueryBuilder<
      Row,
      Row[]
    >;
  }

  /** An objection query on the organization's rows of an entity: select, patch or delete, already filtered. */
  query<M extends OrgModel>(entity: OrgEntity<M>): QueryBuilderType<M> {
    return queryOrg(entity, this.#trx, this.organizationId);
  }

  /** Stores a new row of an entity and returns it as stored. */
  create<M extends OrgModel>(entity: OrgEntity<M>, row: object): Promise<M> {
    return insertOrg(entity, this.#trx, this.organizationId, row);
  }

  /** Inserts rows, each stamped with the organization. Chain `.returning()` or `.onConflict()` as needed. */
  insert<Row extends object = Record<string, any>>(
    name: OrgTable,
    rows: object | readonly object[],
  ): Knex.QueryBuilder<Row, Row[]> {
    const list = (Array.isArray(rows) ? rows : [rows]) as object[];
    return this.#trx(name).insert(
      list.map((row) => ({ ...row, organization_id: this.organizationId })),
    ) as unknown as Knex.QueryBuilder<Row, Row[]>;
  }

  /**
   * Runs SQL with named bindings; `:org` is bound to the organization. Returns the rows. The statement is sent at once:
   * several of one transaction that do not wait for each other's answers run in the order of the calls.
   */
  sql<Row = Record<string, any>>(text: OrgSql, bindings: Bindings = {}): Promise<Row[]> {
    return runStatement<Row>(this.#trx, text, { ...bindings, org: this.organizationId }).then(({ rows }) => rows);
  }

  /** Waits for the lock of a name, which is held until the transaction ends. Sent at once, like {@link OrgScope.sql}. */
  lock(name: string): Promise<void> {
    return this.#trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name]).then(() => undefined);
  }

  /** A raw fragment for use inside a scoped query. */
  raw(text: string, bindings: Bindings = {}): Knex.Raw {
    return this.#trx.raw(text, bindings as never);
  }
}
