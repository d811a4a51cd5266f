import type { Knex } from 'knex';
import type { Changes, Row, TableName } from './rows.ts';

type Column<T extends TableName> = keyof Row<T> & string;
type Known<T extends TableName, C extends Column<T>> = NonNullable<Row<T>[C]>;
type Operator = '=' | '<>' | '<' | '<=' | '>' | '>=' | 'like' | 'ilike';
type Direction = 'asc' | 'desc';
type Written<T extends TableName> = { [C in keyof Changes<T>]: Changes<T>[C] | Knex.Raw };
/** What is left of a result when only some columns are read. */
type Narrowed<Result, Part> = Result extends readonly unknown[] ? Part[] : Part | Extract<Result, undefined>;

/**
 * What queries on one table have in common. Columns are those of its row type: an unknown name, or a value of
 * another type, does not compile. Knex and objection do the work; their own types take any string for a column.
 */
interface Conditions<T extends TableName> {
  where(match: { [C in Column<T>]?: Known<T, C> }): this;
  where(group: (either: Alternatives<T>) => void): this;
  where<C extends Column<T>>(column: C, value: Known<T, C>): this;
  where<C extends Column<T>>(column: C, operator: Operator, value: Known<T, C> | Knex.Raw): this;
  whereNot<C extends Column<T>>(column: C, value: Known<T, C>): this;
  whereNull(column: Column<T>): this;
  whereNotNull(column: Column<T>): this;
  whereIn<C extends Column<T>>(column: C, values: readonly Known<T, C>[] | PromiseLike<object[]>): this;
  whereNotIn<C extends Column<T>>(column: C, values: readonly Known<T, C>[]): this;
  /** SQL for conditions that the other methods cannot express; its columns are not checked. */
  whereRaw(text: string, bindings?: readonly Knex.RawBinding[] | Record<string, Knex.RawBinding>): this;
  orderBy(column: Column<T>, direction?: Direction): this;
  orderBy(columns: readonly Column<T>[]): this;
  /** For an order that {@link Conditions.orderBy} cannot express; its columns are not checked. */
  orderByRaw(text: string, bindings?: readonly Knex.RawBinding[]): this;
  limit(count: number): this;
  forUpdate(): this;
  forNoKeyUpdate(): this;
  /** With a lock: skips rows that others have locked. */
  skipLocked(): this;
}

/** Conditions inside brackets, of which one must hold. */
interface Alternatives<T extends TableName> extends Conditions<T> {
  orWhere<C extends Column<T>>(column: C, value: Known<T, C>): this;
  orWhere<C extends Column<T>>(column: C, operator: Operator, value: Known<T, C> | Knex.Raw): this;
}

/** A query on one table with knex: select, update or delete of the rows that match. */
export interface TableQuery<T extends TableName, Result> extends Conditions<T>, Promise<Result> {
  select<C extends Column<T>>(...columns: C[]): TableQuery<T, Pick<Row<T>, C>[]>;
  first(): TableQuery<T, Row<T> | undefined>;
  first<C extends Column<T>>(...columns: C[]): TableQuery<T, Pick<Row<T>, C> | undefined>;
  distinct<C extends Column<T>>(column: C): TableQuery<T, Pick<Row<T>, C>[]>;
  pluck<C extends Column<T>>(column: C): TableQuery<T, Row<T>[C][]>;
  /** Resolves to the number of rows. */
  update(changes: Written<T>): TableQuery<T, number>;
  /** Resolves to the number of rows. */
  delete(): TableQuery<T, number>;
  /** After an update or delete: the rows instead of their number. */
  returning(all: '*'): TableQuery<T, Row<T>[]>;
  returning<C extends Column<T>>(columns: C | readonly C[]): TableQuery<T, Pick<Row<T>, C>[]>;
}

/** A query on an entity with objection, which reads and writes its jsonb columns `J` as values. */
export interface EntityQuery<T extends TableName, J extends keyof Row<T>, Result>
  extends Conditions<T>, Promise<Result> {
  findById(id: string): EntityQuery<T, J, Row<T> | undefined>;
  findByIds(ids: readonly string[]): EntityQuery<T, J, Row<T>[]>;
  findOne(match: { [C in Column<T>]?: Known<T, C> }): EntityQuery<T, J, Row<T> | undefined>;
  first(): EntityQuery<T, J, Row<T> | undefined>;
  select<C extends Column<T>>(...columns: C[]): EntityQuery<T, J, Narrowed<Result, Pick<Row<T>, C>>>;
  /** @throws NotFoundError when there is none */
  throwIfNotFound(): EntityQuery<T, J, NonNullable<Result>>;
  /** The number of rows that match, without the limit. */
  resultSize(): Promise<number>;
  /** Resolves to the number of rows. */
  patch(changes: EntityChanges<T, J>): EntityQuery<T, J, number>;
  patchAndFetchById(id: string, changes: EntityChanges<T, J>): EntityQuery<T, J, Row<T> | undefined>;
  /** Resolves to the number of rows. */
  delete(): EntityQuery<T, J, number>;
  /** Resolves to the number of rows. */
  deleteById(id: string): EntityQuery<T, J, number>;
  /** After a patch or delete: the rows instead of their number. */
  returning(all: '*'): EntityQuery<T, J, Row<T>[]>;
}

/** What a patch takes: as an update, with values in jsonb columns. */
type EntityChanges<T extends TableName, J extends keyof Row<T>> = {
  [C in keyof Changes<T>]: (C extends J ? Row<T>[C] : Changes<T>[C]) | Knex.Raw;
};

/** An insert, with what to do about rows that exist already. */
export interface InsertQuery<T extends TableName, Result> extends Promise<Result> {
  returning(all: '*'): InsertQuery<T, Row<T>[]>;
  returning<C extends Column<T>>(columns: C | readonly C[]): InsertQuery<T, Pick<Row<T>, C>[]>;
  onConflict(columns?: Column<T> | readonly Column<T>[]): {
    ignore(): InsertQuery<T, Result>;
    merge(columns?: readonly Column<T>[] | Written<T>): InsertQuery<T, Result>;
  };
}
