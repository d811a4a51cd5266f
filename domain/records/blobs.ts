import { createReadStream } from 'node:fs';
import type { Columns } from '../../db/rows.ts';
import { newId } from '../../lib/ids.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import type { Tx } from '../kernel/transact.ts';

/** Bytes of one stored chunk: small enough to have many in memory, large enough that a gigabyte is a few thousand rows. */
const CHUNK_BYTES = 256 * 1024;

/** Copies a file from disk into the database, chunk by chunk, inside the transaction. Returns the blob's id. */
export async function storeBlob(tx: Tx, path: string, size: number): Promise<string> {
  return storeChunks(tx, createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>, size);
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

/** The bytes of a blob, one stored chunk at a time. */
export async function* readBlob(org: OrgScope, id: string): AsyncGenerator<Buffer> {
  for (let seq = 0; ; seq += 1) {
    const [chunk] = await org.sql<Columns<'blob_chunks', 'bytes'>>(
      'select c.bytes from blob_chunks c join blobs b on b.id = c.blob_id where b.organization_id = :org and b.id = :id and c.seq = :seq',
      { id, seq },
    );
    if (!chunk) return;
    yield chunk.bytes;
  }
}

/** Removes a blob with its chunks. */
export async function deleteBlob(org: OrgScope, id: string): Promise<void> {
  await org.table('blobs').where({ id }).delete();
}
