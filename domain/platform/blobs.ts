import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Columns } from '../../db/rows.ts';
import type { BlobStores } from '../../lib/blobs/index.ts';
import { newId } from '../../lib/ids.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { Tx } from './kernel/transact.ts';

/**
 * Size (bytes) of a stored chunk: small enough to hold many in memory, large enough to store a gigabyte in a few
 * thousand rows.
 */
export const CHUNK_BYTES = 256 * 1024;

/**
 * A file is first stored in PostgreSQL, in the same transaction as the row that refers to it, so that neither exists
 * without the other. If BLOB_PROVIDER names another store, a worker moves the file there afterwards.
 */

/**
 * Copies a file from disk into the database, chunk by chunk, inside the transaction. Returns the blob's id.
 * @param file its path, or the open file, which stays open
 */
export async function storeBlob(tx: Tx, file: string | FileHandle, size: number): Promise<string> {
  const chunks = typeof file === 'string' ? createReadStream(file, { highWaterMark: CHUNK_BYTES }) : chunksOf(file);
  return storeChunks(tx, chunks as AsyncIterable<Buffer>, size);
}

/** Yields the bytes of an open file from its beginning. A stream is not used, because it would close the file. */
async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ;) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(CHUNK_BYTES), position });
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Copies bytes from memory into the database, inside the transaction. Returns the blob's id. */
export async function storeBytes(tx: Tx, bytes: Buffer): Promise<string> {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) chunks.push(bytes.subarray(at, at + CHUNK_BYTES));
  return storeChunks(tx, chunks, bytes.length);
}

async function storeChunks(tx: Tx, chunks: AsyncIterable<Buffer> | Iterable<Buffer>, size: number): Promise<string> {
  const id = newId();
  await tx.org.insert('blobs', { id, size, created_at: tx.now });
  let seq = 0;
  for await (const bytes of chunks) {
    await tx.org.sql(
      'insert into blob_chunks (blob_id, seq, bytes) select id, :seq, :bytes from blobs where organization_id = :org and id = :id',
      { id, seq, bytes },
    );
    seq += 1;
  }
  return id;
}

/**
 * Yields the bytes of a blob in chunks, from PostgreSQL or another store. Yields nothing for a deleted blob. If a
 * worker moves the blob during the call, the rest is read from the new store.
 * @throws Error when bytes are missing, or their store does not respond
 */
export async function* readBlob(org: OrgScope, blobs: BlobStores, id: string): AsyncGenerator<Buffer> {
  let read = 0;
  for (let seq = 0; ; seq += 1) {
    const [row] = await org.sql<Columns<'blobs', 'size' | 'store' | 'store_key'> & { bytes: Buffer | null }>(
      `select b.size, b.store, b.store_key, c.bytes from blobs b left join blob_chunks c on c.blob_id = b.id and c.seq = :seq
       where b.organization_id = :org and b.id = :id`,
      { id, seq },
    );
    if (!row || read === Number(row.size)) return;
    if (row.store !== 'postgres') return yield* blobs.outside(row.store).read(row.store_key!, read);
    if (!row.bytes) throw new Error(`the file ${id} lacks bytes from ${read} on`);
    read += row.bytes.length;
    yield row.bytes;
  }
}

/**
 * Deletes a blob and its chunks. Bytes outside PostgreSQL are deleted soon afterwards
 * (`domain/operations/system/move-blobs.ts`).
 */
export async function deleteBlob(org: OrgScope, id: string): Promise<void> {
  await org.table('blobs').where({ id }).delete();
}
