import type { Knex } from 'knex';
import type { Changes, Row, TableName } from './rows.ts';

type Column<T extends TableName> = keyof Row<T> & string;
type Known<T extends TableName, C extends Column<T>> = NonNullable<Row<T>[C]>;
type Operator = '=' | '<>' | '<' | '<=' | '>' | '>=' | 'like' | 'ilike';
type Direction = 'asc' | 'desc';
type Written<T extends TableName> = { [C in keyof Changes<T>]: Changes<T>[C] | Knex.Raw };
/** Result type of a query that selects only some columns. */
type Narrowed<Result, Part> = Result extends readonly unknown[] ? Part[] : Part | Extract<Result, undefined>;

/**
 * Conditions common to all queries on one table. The row type of the table defines the columns, so an unknown name or a
 * value of another type does not compile. The types of knex and objection would accept any string as a column.
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
  /** Adds SQL for conditions that the other methods cannot express. The compiler does not check its columns. */
  whereRaw(text: string, bindings?: readonly Knex.RawBinding[] | Record<string, Knex.RawBinding>): this;
  orderBy(column: Column<T>, direction?: Direction): this;
  orderBy(columns: readonly Column<T>[]): this;
  /** Adds an order that {@link Conditions.orderBy} cannot express. The compiler does not check its columns. */
  orderByRaw(text: string, bindings?: readonly Knex.RawBinding[]): this;
  limit(count: number): this;
  forUpdate(): this;
  forNoKeyUpdate(): this;
  /** Skips rows locked by other transactions. Use it together with a lock. */
  skipLocked(): this;
}

/** Conditions inside brackets, joined by `or`. */
interface Alternatives<T extends TableName> extends Conditions<T> {
  orWhere<C extends Column<T>>(column: C, value: Known<T, C>): this;
  orWhere<C extends Column<T>>(column: C, operator: Operator, value: Known<T, C> | Knex.Raw): this;
}

/** A knex query on one table: selects, updates or deletes the matching rows. */
export interface TableQuery<T extends TableName, Result> extends Conditions<T>, Promise<Result> {
  select<C extends Column<T>>(...columns: C[]): TableQuery<T, Pick<Row<T>, C>[]>;
  first(): TableQuery<T, Row<T> | undefined>;
  first<C extends Column<T>>(...columns: C[]): TableQuery<T, Pick<Row<T>, C> | undefined>;
  distinct<C extends Column<T>>(column: C): TableQuery<T, Pick<Row<T>, C>[]>;
  pluck<C extends Column<T>>(column: C): TableQuery<T, Row<T>[C][]>;
  /** Updates the rows. Resolves to their number. */
  update(changes: Written<T>): TableQuery<T, number>;
  /** Deletes the rows. Resolves to their number. */
  delete(): TableQuery<T, number>;
  /** Makes an update or delete return the rows instead of their number. */
  returning(all: '*'): TableQuery<T, Row<T>[]>;
  returning<C extends Column<T>>(columns: C | readonly C[]): TableQuery<T, Pick<Row<T>, C>[]>;
}

/** An objection query on an entity, which reads and writes its jsonb columns `J` as values. */
export interface EntityQuery<T extends TableName, J extends keyof Row<T>, Result>
  extends Conditions<T>, Promise<Result> {
  findById(id: string): EntityQuery<T, J, Row<T> | undefined>;
  findByIds(ids: readonly string[]): EntityQuery<T, J, Row<T>[]>;
  findOne(match: { [C in Column<T>]?: Known<T, C> }): EntityQuery<T, J, Row<T> | undefined>;
  first(): EntityQuery<T, J, Row<T> | undefined>;
  select<C extends Column<T>>(...columns: C[]): EntityQuery<T, J, Narrowed<Result, Pick<Row<T>, C>>>;
  /** @throws NotFoundError when no row matches */
  throwIfNotFound(): EntityQuery<T, J, NonNullable<Result>>;
  /** Returns the number of matching rows, ignoring the limit. */
  resultSize(): Promise<number>;
  /** Updates the rows. Resolves to their number. */
  patch(changes: EntityChanges<T, J>): EntityQuery<T, J, number>;
  patchAndFetchById(id: string, changes: EntityChanges<T, J>): EntityQuery<T, J, Row<T> | undefined>;
  /** Deletes the rows. Resolves to their number. */
  delete(): EntityQuery<T, J, number>;
  /** Deletes one row. Resolves to the number of deleted rows. */
  deleteById(id: string): EntityQuery<T, J, number>;
  /** Makes a patch or delete return the rows instead of their number. */
  returning(all: '*'): EntityQuery<T, J, Row<T>[]>;
}

/** Values for a patch. jsonb columns take values, not JSON text. */
type EntityChanges<T extends TableName, J extends keyof Row<T>> = {
  [C in keyof Changes<T>]: (C extends J ? Row<T>[C] : Changes<T>[C]) | Knex.Raw;
};

/** An insert query, to which a rule for existing rows can be added. */
export interface InsertQuery<T extends TableName, Result> extends Promise<Result> {
  returning(all: '*'): InsertQuery<T, Row<T>[]>;
  returning<C extends Column<T>>(columns: C | readonly C[]): InsertQuery<T, Pick<Row<T>, C>[]>;
  onConflict(columns?: Column<T> | readonly Column<T>[]): {
    ignore(): InsertQuery<T, Result>;
    merge(columns?: readonly Column<T>[] | Written<T>): InsertQuery<T, Result>;
  };
}
