import type { Knex } from 'knex';
import { Model } from 'objection';
import { json } from '../connection.ts';
import type { NewOrgRow, OrgTable, Row } from '../rows.ts';
import { runStatement, type Bindings } from '../statement.ts';
import type { EntityQuery } from '../table-query.ts';

/**
 * Definition of an entity. Other files cannot use objection's class, so they cannot write a query without an
 * organization. {@link OrgScope.query} creates queries.
 * @typeParam J jsonb columns of the entity, which objection reads and writes as values
 */
export interface OrgEntity<T extends OrgTable, J extends keyof Row<T>> {
  readonly table: T;
  /** Names of the jsonb columns. Used only as a type. */
  readonly json: readonly J[];
  /** The model class of objection. Use it only in this file. */
  readonly model: typeof Model;
}

/** A new row of an entity, with values in its jsonb columns. The scope adds the organization. */
export type NewEntity<T extends OrgTable, J extends keyof Row<T>> = {
  [C in keyof NewOrgRow<T>]: C extends J ? Row<T>[C] : NewOrgRow<T>[C];
};

/** Defines the entity of a table, with its jsonb columns. */
export function orgEntity<T extends OrgTable, J extends keyof Row<T> & string = never>(
  table: T,
  json: readonly J[],
): OrgEntity<T, J> {
  const model = class extends Model {
    static override tableName = table;
    static override jsonAttributes = [...json];
    /** Returns a row as PostgreSQL sent it. Objection would copy every column of it into an instance. */
    static override fromDatabaseJson<M extends Model>(row: object): M {
      return row as M;
    }
  };
  return { table, json, model };
}

/** Starts a query on one organization's rows of an entity. */
export function queryOrg<T extends OrgTable, J extends keyof Row<T>>(
  entity: OrgEntity<T, J>,
  knex: Knex,
  organizationId: string,
): EntityQuery<T, J, Row<T>[]> {
  return entity.model.query(knex).where(`${entity.table}.organization_id`, organizationId) as unknown as EntityQuery<
    T,
    J,
    Row<T>[]
  >;
}

/**
 * Inserts a row of an entity for the organization and returns it as stored. The statement text is cached per list of
 * columns, because objection would build it again for each row.
 */
export async function insertOrg<T extends OrgTable, J extends keyof Row<T>>(
  { table, json: jsonColumns }: OrgEntity<T, J>,
  knex: Knex,
  organizationId: string,
  row: NewEntity<T, J>,
): Promise<Row<T>> {
  const given = Object.entries({ ...row, organization_id: organizationId }).filter(([, value]) => value !== undefined);
  const isJson = (name: string): boolean => jsonColumns.some((column) => column === name);
  const bindings = Object.fromEntries(
    given.map(([name, value]) => [name, isJson(name) && value !== null ? json(value) : value]),
  ) as Bindings;
  const names = given.map(([name]) => name);
  const { rows } = await runStatement<Row<T>>(
    knex,
    `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')}) values (${names.map((name) => `:${name}`).join(', ')}) returning *`,
    bindings,
  );
  return rows[0]!;
}
