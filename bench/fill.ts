import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { RawDb } from '../test/harness/database.ts';

/** Cell of a row: text, a number or null. */
export type Cell = string | number | null;

/** Size (characters) of the text that is written in one piece. */
const CHUNK = 1 << 18;

/**
 * Settings of the server while a data set is written. They are reset afterwards. The data set can be created again, so
 * durability is not needed.
 */
const WHILE_FILLING = {
  autovacuum: 'off',
  max_wal_size: `'16GB'`,
  checkpoint_timeout: `'1h'`,
  maintenance_work_mem: `'1GB'`,
  work_mem: `'512MB'`,
  synchronous_commit: 'off',
};

/**
 * Writes a data set with few checkpoints. Afterwards the server's settings are restored, everything is on disk, and the
 * statistics are current.
 */
export async function filling(raw: RawDb, work: () => Promise<void>): Promise<void> {
  for (const [name, value] of Object.entries(WHILE_FILLING)) await raw.raw(`alter system set ${name} = ${value}`);
  await raw.raw('select pg_reload_conf()');
  try {
    await work();
  } finally {
    for (const name of Object.keys(WHILE_FILLING)) await raw.raw(`alter system reset ${name}`);
    await raw.raw('select pg_reload_conf()');
  }
  await raw.raw('vacuum analyze');
  await raw.raw('checkpoint');
}

/** Writes rows by COPY into a table without its indexes, keys and triggers, which are then recreated. */
export async function copyRows(
  raw: RawDb,
  table: string,
  columns: readonly string[],
  rows: Iterable<readonly Cell[]>,
): Promise<void> {
  await withoutIndexes(raw, table, async () => {
    // Uses its own connection, because the pool's connections send several statements at once, which COPY does not
    // allow.
    const connection = new pg.Client({ ...(raw.client.config.connection as pg.ClientConfig), pipeline: false });
    await connection.connect();
    try {
      await connection.query('set session_replication_role = replica');
      const frozen = await canFreeze(connection, table);
      await connection.query('begin');
      // Truncates the table in the same transaction, because rows can then be written frozen, and no vacuum reads them
      // again.
      if (frozen) await connection.query(`truncate ${table}`);
      await pipeline(
        Readable.from(chunksOf(rows)),
        connection.query(
          copyFrom(`copy ${table} (${columns.join(', ')}) from stdin ${frozen ? 'with (freeze true)' : ''}`),
        ),
      );
      await connection.query('commit');
    } finally {
      await connection.end();
    }
  });
}

/** Returns true if a table may be truncated: it has no rows, and no other table references it. */
async function canFreeze(connection: pg.Client, table: string): Promise<boolean> {
  const { rows } = await connection.query<{ free: boolean }>(
    `select not exists (select 1 from ${table}) and not exists (select 1 from pg_constraint where confrelid = $1::regclass and contype = 'f') as free`,
    [table],
  );
  return rows[0]!.free;
}

/**
 * Drops the indexes of a table and those of its keys that no other table references, runs the work, and rebuilds them.
 */
export async function withoutIndexes(raw: RawDb, table: string, work: () => Promise<void>): Promise<void> {
  const { rows: keys } = await raw.raw(
    `select k.conname as name, pg_get_constraintdef(k.oid) as definition from pg_constraint k
     where k.conrelid = ?::regclass and k.contype in ('p', 'u') and not exists (select 1 from pg_constraint f where f.conindid = k.conindid and f.contype = 'f')`,
    [table],
  );
  const { rows: indexes } = await raw.raw(
    `select c.relname as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = ?::regclass and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)`,
    [table],
  );
  for (const { name } of keys) await raw.raw(`alter table ${table} drop constraint ${name}`);
  for (const { name } of indexes) await raw.raw(`drop index ${name}`);
  await work();
  for (const { name, definition } of keys) await raw.raw(`alter table ${table} add constraint ${name} ${definition}`);
  for (const { definition } of indexes) await raw.raw(definition);
}

/** Runs the work with the triggers of a table disabled, including foreign key checks. */
export async function withoutTriggers(raw: RawDb, table: string, work: () => Promise<void>): Promise<void> {
  await raw.raw(`alter table ${table} disable trigger all`);
  await work();
  await raw.raw(`alter table ${table} enable trigger all`);
}

/** Encodes rows in the text format of COPY. Cells contain no tabs, line breaks or backslashes. */
function* chunksOf(rows: Iterable<readonly Cell[]>): Generator<string> {
  let text = '';
  for (const row of rows) {
    for (let index = 0; index < row.length; index += 1) {
      if (index > 0) text += '\t';
      const cell = row[index];
      text += cell === null ? '\\N' : cell;
    }
    text += '\n';
    if (text.length < CHUNK) continue;
    yield text;
    text = '';
  }
  if (text) yield text;
}
