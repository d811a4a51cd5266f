import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { COLUMNS } from '../../db/columns.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** TypeScript type by PostgreSQL type, as node-postgres parses them in db/connection.ts. */
const TYPES: Record<string, string> = {
  uuid: 'string',
  text: 'string',
  date: 'string',
  tsvector: 'string',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  numeric: 'number',
  float4: 'number',
  float8: 'number',
  bool: 'boolean',
  timestamptz: 'Date',
  bytea: 'Buffer',
};

/** Column in the system catalog. */
interface Column {
  table: string;
  /** Comments of the table and of the column. */
  tableNote: string | null;
  note: string | null;
  name: string;
  /** Type of the column, or of an array's elements. */
  type: string;
  isArray: boolean;
  isNullable: boolean;
  /** True if an insert may omit the column although it is not nullable. */
  hasDefault: boolean;
  /** True if PostgreSQL computes it and refuses a value. */
  isGenerated: boolean;
}

/** Types of a column for reading and writing, and the type name from db/json-columns.ts. */
interface ColumnType {
  row: string;
  insert: string;
  imported?: string;
}

/**
 * Writes the row types of a migrated database into one file. Each table has a type for reads (`row`) and one for
 * inserts (`insert`), with the comments of the schema.
 * @param url postgres:// URL of a fully migrated database
 * @param file file to replace
 * @throws Error when db/columns.ts names a column that the schema lacks, or a column has a type unknown to TYPES
 */
export async function generateRowTypes(url: string, file: string): Promise<void> {
  const { columns, unions } = await readCatalog(url);
  const found = new Set(columns.map(pathOf));
  const unknown = Object.keys(COLUMNS).filter((path) => !found.has(path));
  if (unknown.length > 0) throw new Error(`db/columns.ts names columns that are not there: ${unknown.join(', ')}`);
  const tables = [...new Set(columns.map(({ table }) => table))];
  const types = new Map(columns.map((column) => [column, columnType(column, unions)]));
  const imported = [...new Set([...types.values()].flatMap((type) => type.imported ?? []))].toSorted();
  const source = [
    `import type { ${imported.join(', ')} } from './json-columns.ts';`,
    '',
    '/** Every table by its name: `row` as it is read, `insert` as it is written. */',
    'export interface Tables {',
    ...tables.map((table) => `${table}: { row: ${pascal(table)}Row; insert: ${pascal(table)}Insert };`),
    '}',
    ...tables.flatMap((table) =>
      tableSource(
        columns.filter((column) => column.table === table),
        types,
      ),
    ),
    '',
  ].join('\n');
  await writeFile(file, source);
  await format(file);
}

/** Reads the columns of all tables but the migrations' own, and the union types of checks `column in (…)` by `table.column`. */
async function readCatalog(url: string): Promise<{ columns: Column[]; unions: Map<string, string> }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const columns = await client.query<Column>(
      `select c.relname as "table", obj_description(c.oid, 'pg_class') as "tableNote", a.attname as name, col_description(c.oid, a.attnum) as note, coalesce(e.typname, t.typname) as type, e.oid is not null as "isArray",
              not a.attnotnull as "isNullable", a.atthasdef or a.attidentity <> '' as "hasDefault",
              a.attgenerated <> '' or a.attidentity = 'a' as "isGenerated"
         from pg_class c
         join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
         join pg_type t on t.oid = a.atttypid
         left join pg_type e on e.typarray = t.oid
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
          and c.relname !~ '^heron_migrations'
        order by c.relname collate "C", a.attnum`,
    );
    const checks = await client.query<{ path: string; definition: string }>(
      `select c.conrelid::regclass || '.' || a.attname as path, pg_get_constraintdef(c.oid) as definition
         from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
        where c.contype = 'c' and cardinality(c.conkey) = 1 and c.connamespace = 'public'::regnamespace`,
    );
    const unions = checks.rows.flatMap(({ path, definition }) => {
      const list = /^CHECK \(\(\w+ = ANY \(ARRAY\[(.+)\]\)\)\)$/.exec(definition)?.[1];
      const values = list?.match(/'(?:[^']|'')*'(?=::text)/g);
      return values ? [[path, values.join(' | ')] as const] : [];
    });
    return { columns: columns.rows, unions: new Map(unions) };
  } finally {
    await client.end();
  }
}

function tableSource(columns: readonly Column[], types: ReadonlyMap<Column, ColumnType>): string[] {
  const { table, tableNote } = columns[0]!;
  return [
    '',
    ...comment(tableNote),
    `interface ${pascal(table)}Row {`,
    ...columns.flatMap((column) => [
      ...comment(column.note),
      `${column.name}: ${orNull(types.get(column)!.row, column)};`,
    ]),
    '}',
    '',
    `interface ${pascal(table)}Insert {`,
    ...columns
      .filter(({ isGenerated }) => !isGenerated)
      .map((column) => {
        const mayLack = column.isNullable || column.hasDefault ? '?' : '';
        return `${column.name}${mayLack}: ${orNull(types.get(column)!.insert, column)};`;
      }),
    '}',
  ];
}

function comment(note: string | null): string[] {
  return note === null ? [] : [`/** ${note} */`];
}

/**
 * jsonb is read as a value and written as JSON text, because node-postgres would write a list as a PostgreSQL array.
 */
function columnType(column: Column, unions: ReadonlyMap<string, string>): ColumnType {
  if (column.type === 'jsonb') {
    const row = COLUMNS[pathOf(column) as keyof typeof COLUMNS] ?? 'JsonObject';
    const imported = row.replace(/(\[\])+$/, '');
    return { row, insert: 'string', ...(imported.startsWith('Record<') ? {} : { imported }) };
  }
  const plain = unions.get(pathOf(column)) ?? TYPES[column.type];
  if (!plain) throw new Error(`${pathOf(column)} has the type ${column.type}, which local/row-types does not know`);
  const type = column.isArray ? `${plain}[]` : plain;
  return { row: type, insert: type };
}

function orNull(type: string, { isNullable }: Column): string {
  return isNullable ? `${type} | null` : type;
}

function pathOf({ table, name }: Column): string {
  return `${table}.${name}`;
}

async function format(file: string): Promise<void> {
  const oxfmt = join(dirname(createRequire(import.meta.url).resolve('oxfmt/package.json')), 'bin', 'oxfmt');
  await promisify(execFile)(process.execPath, [oxfmt, '-c', join(ROOT, '.oxfmtrc.json'), file], { cwd: ROOT });
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
