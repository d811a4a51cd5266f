import type { Knex } from 'knex';
import { Model } from 'objection';
import { json } from '../connection.ts';
import type { NewOrgRow, OrgTable, Row } from '../rows.ts';
import { runStatement, type Bindings } from '../statement.ts';
import type { EntityQuery } from '../table-query.ts';

/**
 * An entity as the rest of the code uses it. The objection class is private to this folder, so a query without an
 * organization cannot be written; {@link OrgScope.query} makes queries.
 * @typeParam J its jsonb columns, which objection reads and writes as values
 */
export interface OrgEntity<T extends OrgTable, J extends keyof Row<T>> {
  readonly table: T;
  /** Only here for its type. */
  readonly json: readonly J[];
  /** Objection's class; only this file opens it. */
  readonly model: typeof Model;
}

/** A new row of an entity: as an insert takes it, with values in jsonb columns; the scope adds the organization. */
export type NewEntity<T extends OrgTable, J extends keyof Row<T>> = {
  [C in keyof NewOrgRow<T>]: C extends J ? Row<T>[C] : NewOrgRow<T>[C];
};

/** The entity of a table, with its jsonb columns. */
export function orgEntity<T extends OrgTable, J extends keyof Row<T> & string = never>(
  table: T,
  json: readonly J[],
): OrgEntity<T, J> {
  const model = class extends Model {
    static override tableName = table;
    static override jsonAttributes = [...json];
  };
  return { table, json, model };
}

/** A query on one organization's rows of an entity. */
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
 * Inserts a row of an entity, stamped with the organization, and returns it as stored. One text for all rows with the same columns: objection would build
 * the statement anew for each.
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
