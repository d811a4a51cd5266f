import type pg from 'pg';

/**
 * A table of Heron, with its stored columns. Generated columns are omitted, because PostgreSQL computes them from the
 * others.
 */
interface StoredTable {
  name: string;
  columns: string[];
}

/**
 * Tables that are not dumped, because their rows are useless in another database: rate limit counts, running workers,
 * and migration records, which `heron restore` creates itself.
 */
const NOT_BACKED_UP = ['heron_migrations', 'heron_migrations_lock', 'rate_limit_counts', 'workers'];

/** Returns every table whose rows are dumped, ordered by name. */
export async function storedTables(client: pg.Client): Promise<StoredTable[]> {
  const { rows } = await client.query<StoredTable>(
    `select c.relname as name,
       array_agg(a.attname::text order by a.attnum) filter (where a.attgenerated = '') as columns
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all($1)
       and not exists (select 1 from pg_depend d where d.objid = c.oid and d.deptype = 'e')
     group by c.relname order by c.relname collate "C"`,
    [NOT_BACKED_UP],
  );
  return rows;
}

/**
 * Returns the last number of each sequence that belongs to a dumped table or to no table. Omits sequences that were
 * never used.
 */
export async function sequences(client: pg.Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; last: string }>(
    `select sequencename as name, last_value::text as last from pg_sequences
     where schemaname = current_schema() and last_value is not null and sequencename not like 'heron\\_migrations%' order by sequencename`,
  );
  return Object.fromEntries(rows.map(({ name, last }) => [name, last]));
}

/** Quotes a name from the catalogue as an SQL identifier, for statements about tables found at run time. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
