import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { COLUMNS } from '../../db/columns.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** TypeScript type by PostgreSQL type, as db/connection.ts has node-postgres read them. */
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
const HEAD = '/** Written by `npm run db:types` from the migrated schema; do not edit. */';

/** A column as the catalog has it. */
interface Column {
  table: string;
  name: string;
  /** Type of the column, or of the elements of an array. */
  type: string;
  isArray: boolean;
  isNullable: boolean;
  /** An insert may leave it out although it is not nullable. */
  hasDefault: boolean;
  /** PostgreSQL computes it and refuses a value. */
  isGenerated: boolean;
}

/** The type of a column, read and written, and the name that it takes from db/json-columns.ts. */
interface ColumnType {
  row: string;
  insert: string;
  imported?: string;
}

/**
 * Writes the row types of a migrated database: a file per table with what is read (`row`) and what an insert takes
 * (`insert`), and an index by table name. Files of tables that are gone are removed.
 * @param url postgres:// of a database that is at the newest migration
 * @param directory where the files go; all `.ts` in it are replaced
 * @throws Error when db/columns.ts names a column that the schema lacks, or a column has a type unknown to TYPES
 */
export async function generateRowTypes(url: string, directory: string): Promise<void> {
  const { columns, unions } = await readCatalog(url);
  const found = new Set(columns.map(pathOf));
  const unknown = Object.keys(COLUMNS).filter((path) => !found.has(path));
  if (unknown.length > 0) throw new Error(`db/columns.ts names columns that are not there: ${unknown.join(', ')}`);
  const tables = [...new Set(columns.map(({ table }) => table))];
  await mkdir(directory, { recursive: true });
  for (const file of await readdir(directory)) if (file.endsWith('.ts')) await rm(join(directory, file));
  for (const table of tables) {
    const its = columns.filter((column) => column.table === table);
    await writeFile(join(directory, fileOf(table)), tableSource(table, its, unions));
  }
  await writeFile(join(directory, 'index.ts'), indexSource(tables));
  await format(directory);
}

/** Reads the columns of all tables but the migrations' own, and the unions that checks `column in (…)` make, by path. */
async function readCatalog(url: string): Promise<{ columns: Column[]; unions: Map<string, string> }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const columns = await client.query<Column>(
      `select c.relname as "table", a.attname as name, coalesce(e.typname, t.typname) as type, e.oid is not null as "isArray",
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

function tableSource(table: string, columns: readonly Column[], unions: ReadonlyMap<string, string>): string {
  const types = columns.map((column) => ({ column, type: columnType(column, unions) }));
  const imported = [...new Set(types.flatMap(({ type }) => type.imported ?? []))];
  return [
    HEAD,
    '',
    ...(imported.length > 0 ? [`import type { ${imported.join(', ')} } from '../json-columns.ts';`, ''] : []),
    `export interface ${pascal(table)}Row {`,
    ...types.flatMap(({ column, type }) => {
      const note = noted(column)?.note;
      return [...(note ? [`/** ${note} */`] : []), `${column.name}: ${orNull(type.row, column)};`];
    }),
    '}',
    '',
    `export interface ${pascal(table)}Insert {`,
    ...types.flatMap(({ column, type }) =>
      column.isGenerated
        ? []
        : [`${column.name}${column.isNullable || column.hasDefault ? '?' : ''}: ${orNull(type.insert, column)};`],
    ),
    '}',
    '',
  ].join('\n');
}

/** Adds `Tables`: table name -> its types. */
function indexSource(tables: readonly string[]): string {
  return [
    HEAD,
    '',
    ...tables.map((table) => `import type { ${pascal(table)}Row, ${pascal(table)}Insert } from './${fileOf(table)}';`),
    '',
    '/** Every table by its name: `row` as it is read, `insert` as it is written. */',
    'export interface Tables {',
    ...tables.map((table) => `${table}: { row: ${pascal(table)}Row; insert: ${pascal(table)}Insert };`),
    '}',
    '',
  ].join('\n');
}

/** jsonb is read as a value and written as its JSON text: node-postgres would write a list as a PostgreSQL array. */
function columnType(column: Column, unions: ReadonlyMap<string, string>): ColumnType {
  if (column.type === 'jsonb') {
    const row = noted(column)?.type ?? 'JsonObject';
    const imported = row.replace(/(\[\])+$/, '');
    return { row, insert: 'string', ...(imported.startsWith('Record<') ? {} : { imported }) };
  }
  const plain = unions.get(pathOf(column)) ?? TYPES[column.type];
  if (!plain) throw new Error(`${pathOf(column)} has the type ${column.type}, which local/row-types does not know`);
  const type = column.isArray ? `${plain}[]` : plain;
  return { row: type, insert: type };
}

function noted(column: Column): { type?: string; note?: string } | undefined {
  return COLUMNS[pathOf(column) as keyof typeof COLUMNS];
}

function orNull(type: string, { isNullable }: Column): string {
  return isNullable ? `${type} | null` : type;
}

function pathOf({ table, name }: Column): string {
  return `${table}.${name}`;
}

function fileOf(table: string): string {
  return `${table.replaceAll('_', '-')}.ts`;
}

async function format(directory: string): Promise<void> {
  const oxfmt = join(dirname(createRequire(import.meta.url).resolve('oxfmt/package.json')), 'bin', 'oxfmt');
  await promisify(execFile)(process.execPath, [oxfmt, '-c', join(ROOT, '.oxfmtrc.json'), directory], { cwd: ROOT });
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
