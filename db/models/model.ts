import { Model, type ModelClass, type QueryBuilderType } from 'objection';
import type { Db, Trx } from '../connection.ts';

/** Base of every entity that belongs to an organization. */
export class OrgModel extends Model {
  id!: string;
  organization_id!: string;
  created_at!: Date;
  updated_at!: Date;
}

/**
 * An entity as the rest of the code sees it. The objection class stays in here, so a query that says nothing of its
 * organization cannot be written; {@link OrgScope.query} is the way in.
 */
export interface OrgEntity<M extends OrgModel> {
  /** Objection's class; only db/tenancy.ts opens it. */
  readonly model: ModelClass<M>;
}

/** Wraps an objection class. The row type is taken from its constructor; objection's static side would infer the base. */
export function orgEntity<M extends OrgModel>(model: new () => M): OrgEntity<M> {
  return { model: model as ModelClass<M> };
}

/** A query on one organization's rows of an entity. */
export function queryOrg<M extends OrgModel>(
  entity: OrgEntity<M>,
  trx: Trx | Db,
  organizationId: string,
): QueryBuilderType<M> {
  return entity.model
    .query(trx)
    .where(`${entity.model.tableName}.organization_id`, organizationId) as QueryBuilderType<M>;
}

/** Inserts a row of an entity, stamped with the organization, and returns it as stored. */
export async function insertOrg<M extends OrgModel>(
  entity: OrgEntity<M>,
  trx: Trx | Db,
  organizationId: string,
  row: object,
): Promise<M> {
  return (await entity.model
    .query(trx)
    .insert({ ...row, organization_id: organizationId } as never)
    .returning('*')) as unknown as M;
}
