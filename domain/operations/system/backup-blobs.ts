import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { SnapshotQuery } from '../../../db/backup/dump.ts';
import type { Write } from '../../../db/backup/load.ts';
import { errorSummary } from '../../../lib/error-report.ts';
import { BlobMissing, type BlobStore, type BlobStores } from '../../../lib/blobs/index.ts';
import { CHUNK_BYTES } from '../../platform/blobs.ts';
import { BackupError } from './backup-error.ts';

/** A file whose bytes are outside PostgreSQL. */
export interface OutsideBlob {
  id: string;
  store: 'disk' | 's3';
  store_key: string;
}

/** A file in a backup's folder. */
interface DumpedBlob {
  id: string;
  /** Path relative to the folder. */
  file: string;
  sizeBytes: number;
  sha256: string;
}

const FOLDER = 'blobs';

/** Returns the files outside PostgreSQL that are named by the rows of the snapshot. */
export async function blobsOutside(look: SnapshotQuery): Promise<OutsideBlob[]> {
  return look<{ id: string; store: 'disk' | 's3'; store_key: string }>(
    `select id, store, store_key from blobs where store <> 'postgres' order by id`,
  );
}

/**
 * Copies files from their stores into a backup's folder.
 * @throws BackupError when a store does not respond
 */
export async function dumpBlobs(
  blobs: BlobStores,
  outside: readonly OutsideBlob[],
  folder: string,
): Promise<{ files: DumpedBlob[]; missing: string[] }> {
  const files: DumpedBlob[] = [];
  const missing: string[] = [];
  if (outside.length > 0) await mkdir(join(folder, FOLDER), { mode: 0o700 });
  for (const { id, store, store_key: key } of outside) {
    try {
      files.push({ id, ...(await copyOut(blobs.outside(store), key, folder, `${FOLDER}/${id}`)) });
    } catch (error) {
      if (!(error instanceof BlobMissing)) throw new BackupError(`the file ${id} in ${store}: ${errorSummary(error)}`);
      missing.push(id);
    }
  }
  return { files, missing };
}

async function copyOut(store: BlobStore, key: string, folder: string, file: string): Promise<Omit<DumpedBlob, 'id'>> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const handle = await open(join(folder, file), 'wx', 0o600);
  try {
    for await (const chunk of store.read(key)) {
      hash.update(chunk);
      sizeBytes += chunk.length;
      await handle.write(chunk);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { file, sizeBytes, sha256: hash.digest('hex') };
}

/**
 * Writes the files of a backup into PostgreSQL, regardless of their original store. Workers then move them to the new
 * installation's store, under new keys.
 */
export async function loadBlobs(folder: string, files: readonly DumpedBlob[], write: Write): Promise<void> {
  for (const { id, file } of files) {
    let seq = 0;
    for await (const bytes of createReadStream(join(folder, file), { highWaterMark: CHUNK_BYTES }))
      await write('insert into blob_chunks (blob_id, seq, bytes) values ($1, $2, $3)', [id, seq++, bytes]);
    const rows = await write(
      `update blobs set store = 'postgres', store_key = null, moving_to = null, moving_key = null, moving_since = null where id = $1`,
      [id],
    );
    if (rows !== 1) throw new Error(`the backup has a file ${id}, and no row that says whose it is`);
  }
  // Clears moves that were in progress at the time of the backup. They are not continued here, and their copies belong
  // to the old installation.
  await write(
    'update blobs set moving_to = null, moving_key = null, moving_since = null where moving_to is not null',
    [],
  );
}
