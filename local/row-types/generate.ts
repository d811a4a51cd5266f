import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import kanel, { type ConfigV4, type Output, type TypeDefinition } from 'kanel';
import pg from 'pg';
import { COLUMNS } from '../../db/columns.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { makePgTsGenerator, processDatabase } = kanel;

/** As db/connection.ts has node-postgres read them. */
const TYPES = {
  'pg_catalog.uuid': 'string',
  'pg_catalog.text': 'string',
  'pg_catalog.int4': 'number',
  'pg_catalog.timestamptz': 'Date',
  'pg_catalog.int8': 'number',
  'pg_catalog.numeric': 'number',
  'pg_catalog.date': 'string',
  'pg_catalog.bytea': 'Buffer',
  'pg_catalog.tsvector': 'string',
};
const HEAD = '/** Written by `npm run db:types` from the migrated schema; do not edit. */';
/** Heron's own record of what was migrated, and knex's lock. */
const NOT_OURS = /^heron_migrations/;

/**
 * Writes the row types of a migrated database: a file per table with what is read (`row`) and what an insert takes
 * (`insert`), and an index by table name. Files of tables that are gone are removed.
 * @param url postgres:// of a database that is at the newest migration
 * @param directory where the files go; all `.ts` in it are replaced
 * @throws Error when db/columns.ts names a column that the schema lacks
 */
export async function generateRowTypes(url: string, directory: string): Promise<void> {
  const checks = await oneOfChecks(url);
  const used = new Set<string>();
  const jsonTypes = join(resolve(directory, '..'), 'json-columns');
  const config: ConfigV4 = {
    connection: { connectionString: url },
    schemaNames: ['public'],
    filter: ({ kind, name }) => kind === 'table' && !NOT_OURS.test(name),
    outputPath: directory,
    typescriptConfig: { enumStyle: 'literal-union', importsExtension: '.ts' },
    generators: [
      makePgTsGenerator({
        customTypeMap: TYPES,
        propertySortFunction: (a, b) => ordinal(a) - ordinal(b),
        getMetadata: ({ name }, generateFor) => ({
          name: `${pascal(name)}${generateFor === 'selector' ? 'Row' : generateFor === 'initializer' ? 'Insert' : MUTATOR}`,
          comment: undefined,
          path: join(directory, name.replaceAll('_', '-')),
          exportAs: 'named',
        }),
        // Kanel gives every key a type of its own; here ids stay plain strings, see TYPES.
        generateIdentifierType: (_column, _details, builtin) => ({ ...builtin, name: MUTATOR }),
        getPropertyMetadata: (property, details, generateFor) => {
          const path = `${details.name}.${property.name}`;
          const known = COLUMNS[path as keyof typeof COLUMNS];
          if (known) used.add(path);
          const json = property.type.fullName === 'pg_catalog.jsonb';
          const override = json
            ? jsonType(known?.type ?? 'JsonObject', generateFor === 'selector', jsonTypes)
            : (checks.get(path) ?? plainType(property.type.fullName));
          return {
            name: property.name,
            comment: generateFor === 'selector' && known?.note ? [known.note] : undefined,
            ...(override ? { typeOverride: override } : {}),
          };
        },
      }),
    ],
    preRenderHooks: [(output) => withIndex(onlyRowsAndInserts(output), directory)],
    postRenderHooks: [(_path, lines) => [HEAD, '', ...spaced(lines)]],
  };
  for (const file of await readdir(directory).catch(() => []))
    if (file.endsWith('.ts')) await rm(join(directory, file));
  await quietly(() => processDatabase(config));
  const unknown = Object.keys(COLUMNS).filter((path) => !used.has(path));
  if (unknown.length > 0) throw new Error(`db/columns.ts names columns that are not there: ${unknown.join(', ')}`);
  await format(directory);
}

const MUTATOR = 'NotWritten';

/** Keeps what is read and what an insert takes; a change is a Partial of it. */
function onlyRowsAndInserts(output: Output): Output {
  return Object.fromEntries(
    Object.entries(output).map(([path, file]) => [
      path,
      file.fileType === 'typescript'
        ? {
            ...file,
            declarations: file.declarations.filter(
              (declaration) => !('name' in declaration) || !declaration.name.endsWith(MUTATOR),
            ),
          }
        : file,
    ]),
  );
}

/** Adds `Tables`: table name -> its types. */
function withIndex(output: Output, directory: string): Output {
  const tables = Object.keys(output)
    .map((path) => path.slice(directory.length + 1).replaceAll('-', '_'))
    .toSorted();
  return {
    ...output,
    [join(directory, 'index')]: {
      fileType: 'typescript',
      declarations: [
        {
          declarationType: 'interface',
          name: 'Tables',
          comment: ['Every table by its name: `row` as it is read, `insert` as it is written.'],
          exportAs: 'named',
          properties: tables.map((table) => ({
            name: table,
            dimensions: 0,
            isNullable: false,
            isOptional: false,
            typeName: `{ row: ${pascal(table)}Row; insert: ${pascal(table)}Insert }`,
            typeImports: ['Row', 'Insert'].map((kind) => ({
              name: `${pascal(table)}${kind}`,
              path: join(directory, table.replaceAll('_', '-')),
              isDefault: false,
              isAbsolute: false,
              importAsType: true,
            })),
          })),
        },
      ],
    },
  };
}

/** What is read is a value; what is written is its JSON text, as node-postgres would write a list as an array of its own. */
function jsonType(type: string, read: boolean, path: string): string | TypeDefinition {
  if (!read) return 'string';
  const name = type.replace(/(\[\])+$/, '');
  if (name.startsWith('Record<')) return type;
  return { name: type, typeImports: [{ name, path, isDefault: false, isAbsolute: false, importAsType: true }] };
}

function plainType(fullName: string): string | undefined {
  return TYPES[fullName as keyof typeof TYPES];
}

/** Columns with a check `column in (…)` -> the union of its texts, by `table.column`. */
async function oneOfChecks(url: string): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ path: string; definition: string }>(
      `select c.conrelid::regclass || '.' || a.attname as path, pg_get_constraintdef(c.oid) as definition
         from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
        where c.contype = 'c' and cardinality(c.conkey) = 1 and c.connamespace = 'public'::regnamespace`,
    );
    return new Map(
      rows.flatMap(({ path, definition }) => {
        const list = /^CHECK \(\(\w+ = ANY \(ARRAY\[(.+)\]\)\)\)$/.exec(definition)?.[1];
        const values = list?.match(/'(?:[^']|'')*'(?=::text)/g);
        return values ? [[path, values.join(' | ')] as const] : [];
      }),
    );
  } finally {
    await client.end();
  }
}

/** Kanel puts an empty line between columns; one between declarations is enough. */
function spaced(lines: readonly string[]): string[] {
  return lines.filter((line) => line !== '').flatMap((line) => (/^(\/\*\*|export)/.test(line) ? ['', line] : [line]));
}

/** Kanel reports every file on the console. */
async function quietly(work: () => Promise<void>): Promise<void> {
  const { log, info } = console;
  console.log = console.info = () => undefined;
  try {
    await work();
  } finally {
    Object.assign(console, { log, info });
  }
}

async function format(directory: string): Promise<void> {
  const oxfmt = join(dirname(createRequire(import.meta.url).resolve('oxfmt/package.json')), 'bin', 'oxfmt');
  await promisify(execFile)(process.execPath, [oxfmt, '-c', join(ROOT, '.oxfmtrc.json'), directory], { cwd: ROOT });
}

function ordinal(property: unknown): number {
  return (property as { ordinalPosition: number }).ordinalPosition;
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
