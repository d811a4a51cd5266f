import type pg from 'pg';

/** A table of Heron, and the columns that hold what was written (generated ones follow from them). */
interface StoredTable {
  name: string;
  columns: string[];
}

/**
 * Tables whose rows mean nothing elsewhere: the books of the migrations, which `heron restore` writes by migrating; counts against rate
 * limits; living workers.
 */
const NOT_KEPT = ['heron_migrations', 'heron_migrations_lock', 'rate_limit_counts', 'workers'];

/** Every table whose rows are kept, in order of name. */
export async function storedTables(client: pg.Client): Promise<StoredTable[]> {
  const { rows } = await client.query<StoredTable>(
    `select c.relname as name,
       array_agg(a.attname::text order by a.attnum) filter (where a.attgenerated = '') as columns
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all($1)
       and not exists (select 1 from pg_depend d where d.objid = c.oid and d.deptype = 'e')
     group by c.relname order by c.relname collate "C"`,
    [NOT_KEPT],
  );
  return rows;
}

/** The sequences of kept tables and those that stand alone, with the last number that each has given out; those that gave out none are left out. */
export async function sequences(client: pg.Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; last: string }>(
    `select sequencename as name, last_value::text as last from pg_sequences
     where schemaname = current_schema() and last_value is not null and sequencename not like 'heron\\_migrations%' order by sequencename`,
  );
  return Object.fromEntries(rows.map(({ name, last }) => [name, last]));
}

/** A name from the catalogue as a quoted identifier, as statements about tables that are read at run time need it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
