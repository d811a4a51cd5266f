import type { RawDb } from './database.ts';

interface Column {
  table: string;
  column: string;
  type: string;
  nullable: boolean;
  /** True if the column has a default or PostgreSQL generates its value. */
  made: boolean;
  unique: boolean;
  primary: boolean;
  /** `check (column in (…))`, as printed by PostgreSQL. */
  check: string | null;
  /** Table referenced by a foreign key of only this column; null if there is none. */
  target: string | null;
  /** Column that this one references as part of a composite foreign key. */
  part: string | null;
}

/** Columns determined by another one of their table; they stay null or default. */
const DEPENDENT = new Set([
  'agent_policies.oauth_grant_id',
  'approvals.oauth_grant_id',
  'crm_deals.lost_at',
  'crm_deals.status',
  'crm_deals.won_at',
  'crm_tasks.completed_at',
  'crm_tasks.status',
  'lead_allowances.oauth_grant_id',
  'webhook_secrets.application_id',
]);
/** Columns with the same value in every row, because an index over several columns allows no other. */
const CONSTANT = new Map([['goals.is_primary', 'false']]);
const ORGANIZATIONS = 10;

/**
 * Fills tables of any schema with a number of rows each, based on its catalog: keys, references, checks and defaults.
 * Row n refers to row n of other tables, so that all rows with the number n belong to one organization. References are
 * not checked during filling; they hold once every table is filled.
 * @param only tables to fill; default: all
 */
export async function fillSchema(db: RawDb, rows: number, only?: readonly string[]): Promise<string[]> {
  const tables = new Map<string, Column[]>();
  const columns = await readColumns(db);
  const named = new Map(columns.map((column) => [`${column.table}.${column.column}`, column]));
  for (const column of columns) tables.set(column.table, [...(tables.get(column.table) ?? []), column]);
  const filled = [...tables.keys()].filter((table) => !only || only.includes(table));
  for (const table of filled) {
    await db.transaction(async (trx) => {
      await trx.raw('set local session_replication_role = replica');
      const rebuild = await dropIndexes(trx, table);
      const written = tables.get(table)!.filter((column) => isWritten(column));
      const perOrganization = written.some(({ unique, target }) => unique && target === 'organizations');
      const count = table === 'organizations' || perOrganization ? Math.min(rows, ORGANIZATIONS) : rows;
      await trx.raw(
        `insert into ${table} (${written.map(({ column }) => `"${column}"`).join(', ')})
         select ${written.map((column) => valueOf(referenced(column, named))).join(', ')} from generate_series(0, ${count - 1}) n`.replaceAll(
          '?',
          '\\?',
        ),
      );
      await rebuild();
    });
    await db.raw(`analyze ${table}`);
  }
  return filled;
}

/**
 * Drops the indexes of a table that no constraint needs, and returns a function that rebuilds them, which is much
 * faster than updating them per row.
 */
async function dropIndexes(trx: RawDb, table: string): Promise<() => Promise<void>> {
  const { rows } = (await trx.raw(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
     where i.indrelid = ?::regclass and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
    [table],
  )) as { rows: { name: string; definition: string }[] };
  for (const { name } of rows) await trx.raw(`drop index ${name}`);
  return async () => {
    await trx.raw(`set local maintenance_work_mem = '256MB'`);
    // An index of a partitioned table must be built in its partitions too, which its definition (`ON ONLY`) excludes.
    for (const { definition } of rows) await trx.raw(definition.replace(' ON ONLY ', ' ON ').replaceAll('?', '\\?'));
  };
}

/** For a column without its own foreign key, returns the column whose value it shares in a composite foreign key. */
function referenced(column: Column, named: ReadonlyMap<string, Column>): Column {
  return (column.target === null && column.part !== null && named.get(column.part)) || column;
}

function isWritten({ table, column, made, check, target }: Column): boolean {
  return !DEPENDENT.has(`${table}.${column}`) && (!made || check !== null || target !== null);
}

/** Returns the SQL for a column's value in row n. */
function valueOf({ table, column, type, nullable, unique, primary, check, target }: Column): string {
  const constant = CONSTANT.get(`${table}.${column}`);
  if (constant) return constant;
  const oneOf = check?.match(/'[^']*'(?=::text)/g);
  if (oneOf) return `(array[${oneOf.join(', ')}])[1 + n % ${oneOf.length}]`;
  if (target !== null) return keyOf(target, target === 'organizations' ? `n % ${ORGANIZATIONS}` : 'n', type);
  if (unique) return keyOf(primary ? table : `${table}.${column}`, 'n', type);
  switch (type) {
    case 'uuid':
      return `md5('${table}.${column}' || n)::uuid`;
    case 'text':
      return `'${column} ' || n`;
    case 'timestamptz':
      return nullable
        ? `case n % 3 when 0 then null else now() - n % 100000 * interval '1 second' end`
        : `now() - n % 100000 * interval '1 second'`;
    case 'date':
      return `current_date - n % 1000`;
    case 'tsvector':
      return `to_tsvector('simple', 'word' || n)`;
    case 'jsonb':
      return `jsonb_build_object('n', n)`;
    case 'bytea':
      return `decode(md5(n::text), 'hex')`;
    case '_text':
      return `array['a' || n]`;
    case '_int8':
      return `array[n::bigint]`;
    case '_date':
      return `array[current_date + n]`;
    case '_uuid':
      return `array[md5(n::text)::uuid]`;
    case 'bool':
      return 'n % 2 = 0';
    default:
      // Stays within the limits that checks set for days and counts.
      return `1 + n % 365`;
  }
}

/** Returns the key of row n of a table, which other tables use to refer to it. */
function keyOf(table: string, n: string, type: string): string {
  return type === 'uuid' ? `md5('${table}' || ${n})::uuid` : type === 'text' ? `'${table} ' || ${n}` : n;
}

async function readColumns(db: RawDb): Promise<Column[]> {
  const { rows } = (await db.raw(
    `select c.relname as table, a.attname as column, t.typname as type, not a.attnotnull as nullable,
       a.atthasdef or a.attidentity <> '' or a.attgenerated <> '' as made,
       exists (select 1 from pg_index i where i.indrelid = c.oid and i.indisunique and i.indnatts = 1 and i.indkey[0] = a.attnum) as unique,
       exists (select 1 from pg_index i where i.indrelid = c.oid and i.indisprimary and i.indnatts = 1 and i.indkey[0] = a.attnum) as primary,
       (select pg_get_constraintdef(k.oid) from pg_constraint k
        where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum] and pg_get_constraintdef(k.oid) like '%ANY%' limit 1) as check,
       (select k.confrelid::regclass::text from pg_constraint k
        where k.conrelid = c.oid and k.contype = 'f' and k.conparentid = 0 and k.conkey = array[a.attnum] limit 1) as target,
       (select k.confrelid::regclass::text || '.' || f.attname from pg_constraint k
        join pg_attribute f on f.attrelid = k.confrelid and f.attnum = k.confkey[array_position(k.conkey, a.attnum)]
        where k.conrelid = c.oid and k.contype = 'f' and k.conparentid = 0 and cardinality(k.conkey) > 1 and a.attnum = any(k.conkey) limit 1) as part
     from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped join pg_type t on t.oid = a.atttypid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname not like 'heron\\_migrations%'
       -- Its one row comes with the schema.
       and c.relname <> 'installation'
       and a.attgenerated = '' and a.attidentity = ''
     order by c.relname, a.attnum`.replaceAll('?', '\\?'),
  )) as { rows: Column[] };
  return rows;
}
