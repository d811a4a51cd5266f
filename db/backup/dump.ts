import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pg from 'pg';
import copy from 'pg-copy-streams';
import { quoted, sequences, storedTables } from './tables.ts';

/** One table of a dump: its rows in PostgreSQL's text format of COPY, compressed. */
export interface DumpedTable {
  name: string;
  columns: string[];
  rows: number;
  /** The file, relative to the folder of the dump; a table without rows has none. */
  file: string;
  /** Of the compressed file. */
  sizeBytes: number;
  /** Of the compressed file, as hex. */
  sha256: string;
}

interface Dump {
  /** The moment of the snapshot by the database's clock. */
  takenAt: Date;
  /** PostgreSQL's version. */
  server: string;
  /** Migrations that the schema has, in their order. */
  migrations: string[];
  tables: DumpedTable[];
  sequences: Record<string, string>;
}

/** A look at the snapshot that is dumped, for what else belongs to it. */
export type Look = <T extends pg.QueryResultRow>(text: string, values?: unknown[]) => Promise<T[]>;

/**
 * Writes the rows of every table into files of a folder, all as they were at one moment, while everything goes on. Nothing is locked but against
 * changes of the schema.
 * @param alsoRead is called with reads of the same snapshot
 */
export async function dumpTables(
  url: string,
  folder: string,
  alsoRead: (look: Look) => Promise<void>,
  onTable: (table: DumpedTable) => void = () => {},
): Promise<Dump> {
  const client = new pg.Client({ connectionString: url, application_name: 'heron-backup' });
  await client.connect();
  try {
    await client.query('set statement_timeout = 0');
    await client.query('begin isolation level repeatable read read only');
    const look: Look = async (text, values) => (await client.query(text, values as never)).rows as never;
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
      // Sequences belong to no snapshot: read last, so that none is behind the rows.
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
  // By a query, as PostgreSQL copies no table with partitions by its name.
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

/** A dump that is said to be complete is on the disk. */
async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
