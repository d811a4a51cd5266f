import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type pg from 'pg';
import copy from 'pg-copy-streams';
import { openClient } from '../connection-options.ts';
import type { DumpedTable } from './dump.ts';
import { quoted } from './tables.ts';

/** Runs a statement in the transaction of a restore. Returns the number of rows written. */
export type Write = (text: string, values: unknown[]) => Promise<number>;

interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

/**
 * Counts the tables, views and sequences in the database's schema, without those of extensions. 0 means that the
 * database is empty.
 */
export async function countRelations(url: string): Promise<number> {
  const client = await openClient(url, 'heron-restore');
  try {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from pg_class c
       where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
         and not exists (select 1 from pg_depend d where d.objid = c.oid and d.deptype = 'e')`,
    );
    return rows[0]!.count;
  } finally {
    await client.end();
  }
}

/** Returns the names of the dump's files that are missing from the folder or were changed. */
export async function damagedFiles(
  folder: string,
  files: readonly { file: string; sha256: string }[],
): Promise<string[]> {
  const damaged: string[] = [];
  for (const { file, sha256 } of files) {
    const hash = createHash('sha256');
    const intact = await pipeline(createReadStream(join(folder, file)), hash).then(
      () => hash.digest('hex') === sha256,
      () => false,
    );
    if (!intact) damaged.push(file);
  }
  return damaged;
}

/**
 * Loads the rows of a dump into a database with the dump's schema, in one transaction. Rows that the migrations wrote
 * are replaced. Triggers do not run, because the dump contains their effects. Foreign keys are dropped before the load.
 * Their restoration checks every row.
 * @param alsoWrite called after the rows are loaded and before foreign keys are restored, with a function that writes
 * in the same transaction
 * @throws the error of PostgreSQL, or an Error naming the table whose number of rows differs from the dump
 */
export async function loadTables(
  url: string,
  folder: string,
  { tables, sequences }: { tables: readonly DumpedTable[]; sequences: Readonly<Record<string, string>> },
  onTable: (table: DumpedTable) => void = () => {},
  alsoWrite: (write: Write) => Promise<void> = async () => {},
): Promise<void> {
  const client = await openClient(url, 'heron-restore');
  try {
    await client.query('set statement_timeout = 0; set lock_timeout = 0');
    await client.query('begin');
    const keys = await foreignKeys(client);
    for (const { table, name } of keys)
      await client.query(`alter table ${quoted(table)} drop constraint ${quoted(name)}`);
    await client.query(`truncate ${tables.map(({ name }) => quoted(name)).join(', ')}`);
    for (const table of tables.filter(({ rows }) => rows > 0)) {
      await client.query(`alter table ${quoted(table.name)} disable trigger user`);
      await loadTable(client, table, folder);
      await client.query(`alter table ${quoted(table.name)} enable trigger user`);
      onTable(table);
    }
    await alsoWrite(async (text, values) => (await client.query(text, values)).rowCount ?? 0);
    for (const { table, name, definition } of keys)
      await client.query(`alter table ${quoted(table)} add constraint ${quoted(name)} ${definition}`);
    for (const [name, last] of Object.entries(sequences))
      await client.query('select setval($1::regclass, $2::bigint)', [quoted(name), last]);
    await client.query('commit');
    await client.query('analyze');
  } finally {
    // If the transaction is still open, closing the connection rolls it back.
    await client.end();
  }
}

async function foreignKeys(client: pg.Client): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select c.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
     from pg_constraint k join pg_class c on c.oid = k.conrelid
     where k.contype = 'f' and k.conparentid = 0 and c.relnamespace = current_schema()::regnamespace order by c.relname, k.conname`,
  );
  return rows;
}

async function loadTable(client: pg.Client, { name, columns, rows, file }: DumpedTable, folder: string): Promise<void> {
  const into = client.query(copy.from(`copy ${quoted(name)} (${columns.map(quoted).join(', ')}) from stdin`));
  await pipeline(createReadStream(join(folder, file)), createGunzip(), into);
  if (into.rowCount !== rows) throw new Error(`${name} has ${into.rowCount} rows, and the backup says ${rows}`);
}
