import type { Tables } from './schema.ts';

export type TableName = keyof Tables;

/** A row of a table as it is read. A part of it is `Pick<Row<'sends'>, 'id' | 'state'>`, or shorter {@link Columns}. */
export type Row<T extends TableName> = Tables[T]['row'];

/** Some columns of a table: what a statement that selects them returns. */
export type Columns<T extends TableName, C extends keyof Row<T>> = Pick<Row<T>, C>;

/** What an insert into a table takes; jsonb columns as text (`json`). */
export type NewRow<T extends TableName> = Tables[T]['insert'];

/** What an update of a table takes. */
export type Changes<T extends TableName> = Partial<NewRow<T>>;

/** Every table whose rows belong to one organization, by its column organization_id. */
export type OrgTable = {
  [T in TableName]: 'organization_id' extends keyof Row<T> ? T : never;
}[TableName];

/** A row of an organization's table as an insert takes it; the scope adds the organization. */
export type NewOrgRow<T extends OrgTable> = Omit<NewRow<T>, 'organization_id'>;

/** Columns of a left join's right side. */
export type Nullable<Part> = { [C in keyof Part]: Part[C] | null };
