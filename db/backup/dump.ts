import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pg from 'pg';
import copy from 'pg-copy-streams';
import { openClient } from '../connection-options.ts';
import { quoted, sequences, storedTables } from './tables.ts';

/** One table of a dump: its rows in the text format of PostgreSQL's COPY, compressed. */
export interface DumpedTable {
  name: string;
  columns: string[];
  rows: number;
  /** Path of the file, relative to the folder of the dump. A table without rows has no file. */
  file: string;
  /** Size (bytes) of the compressed file. */
  sizeBytes: number;
  /** SHA-256 of the compressed file, in hex. */
  sha256: string;
}

interface Dump {
  /** Time of the snapshot by the database's clock. */
  takenAt: Date;
  /** PostgreSQL's version. */
  server: string;
  /** Names of the schema's migrations, in order. */
  migrations: string[];
  tables: DumpedTable[];
  sequences: Record<string, string>;
}

/** Runs a query in the snapshot of the dump, to read further data for it. */
export type SnapshotQuery = <T extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<T[]>;

/**
 * Writes the rows of every table into files of a folder, all as of one snapshot, without stopping the installation.
 * Blocks only schema changes.
 * @param alsoRead called with a function that runs queries in the same snapshot
 */
export async function dumpTables(
  url: string,
  folder: string,
  alsoRead: (look: SnapshotQuery) => Promise<void>,
  onTable: (table: DumpedTable) => void = () => {},
): Promise<Dump> {
  const client = await openClient(url, 'heron-backup');
  try {
    await client.query('set statement_timeout = 0');
    await client.query('begin isolation level repeatable read read only');
    const look: SnapshotQuery = async (text, values) => (await client.query(text, values as never)).rows as never;
    const [moment] = await look<{ at: Date; server: string }>(
      `select now() as at, current_setting('server_version') as server`,
    );
    const migrations = await look<{ name: string }>('select name from heron_migrations order by id');
    const tables: DumpedTable[] = [];
    for (const table of await storedTables(client)) {
      const dumped = await dumpTable(client, table, folder);
      tables.push(dumped);
      onTable(dumped);
    }
    await alsoRead(look);
    await client.query('commit');
    return {
      takenAt: moment!.at,
      server: moment!.server,
      migrations: migrations.map(({ name }) => name),
      tables,
      // A snapshot does not include sequences. They are read last, so that no sequence is behind the rows.
      sequences: await sequences(client),
    };
  } finally {
    await client.end();
  }
}

async function dumpTable(
  client: pg.Client,
  { name, columns }: { name: string; columns: string[] },
  folder: string,
): Promise<DumpedTable> {
  const file = join('tables', `${name}.copy.gz`);
  // Copies the result of a query, because PostgreSQL cannot copy a partitioned table by its name.
  const rows = client.query(copy.to(`copy (select ${columns.map(quoted).join(', ')} from ${quoted(name)}) to stdout`));
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      done(null, chunk);
    },
  });
  const path = join(folder, file);
  await pipeline(rows, createGzip({ level: 5 }), measure, createWriteStream(path, { mode: 0o600 }));
  if (rows.rowCount === 0) {
    await unlink(path);
    return { name, columns, rows: 0, file, sizeBytes: 0, sha256: '' };
  }
  await flush(path);
  return { name, columns, rows: rows.rowCount, file, sizeBytes, sha256: hash.digest('hex') };
}

/** Flushes a file to disk, so that a complete dump survives a power failure. */
async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
