import type { Tables } from './schema.ts';

export type TableName = keyof Tables;

/** A row of a table, as read from the database. For some of its columns use {@link Columns}. */
export type Row<T extends TableName> = Tables[T]['row'];

/** Some columns of a table, as returned by a statement that selects them. */
export type Columns<T extends TableName, C extends keyof Row<T>> = Pick<Row<T>, C>;

/** Values for an insert into a table. jsonb columns are text (`json`). */
export type NewRow<T extends TableName> = Tables[T]['insert'];

/** Values for an update of a table. */
export type Changes<T extends TableName> = Partial<NewRow<T>>;

/** Tables whose rows belong to one organization, by their column organization_id. */
export type OrgTable = {
  [T in TableName]: 'organization_id' extends keyof Row<T> ? T : never;
}[TableName];

/** Values for an insert into an organization's table. The scope adds the organization. */
export type NewOrgRow<T extends OrgTable> = Omit<NewRow<T>, 'organization_id'>;

/** Columns of the right table of a left join, which may be null. */
export type Nullable<Part> = { [C in keyof Part]: Part[C] | null };
