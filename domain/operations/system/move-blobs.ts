import { randomBytes } from 'node:crypto';
import { across } from '../../../db/across.ts';
import type { Trx } from '../../../db/connection.ts';
import type { Columns } from '../../../db/rows.ts';
import { OrgScope } from '../../../db/tenancy.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { errorSummary } from '../../../lib/error-report.ts';
import type { BlobStoreName } from '../../../lib/blobs/index.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import { CHUNK_BYTES, readBlob } from '../../platform/blobs.ts';

/**
 * New files are written to PostgreSQL, in the same transaction as the row to which they belong. A worker later moves
 * them to the store of BLOB_PROVIDER. It first copies the bytes under a new key. After that, one transaction records
 * the new place and deletes the old bytes. If the worker crashes between these steps, an unused copy remains. Its key
 * is stored in the row, and it is deleted when the file is deleted or moved again.
 */

/** Maximum number of files moved in one pass. Each file is held in memory while it is moved. */
const PAGE = 20;
/** Maximum size (bytes) of a file that is moved out of PostgreSQL. Only exports of large workspaces are larger. */
const MOST_BYTES = 64 * 1024 * 1024;
const REMOVALS = 100;
/**
 * Time (ms) that a worker has for moving a file. After that it is assumed to have crashed, and another worker moves the
 * file.
 */
const LEASE_MS = 600_000;
/** Delay (ms) before a failed deletion is retried. It is multiplied by the number of attempts, up to an hour. */
const RETRY_MS = 60_000;

type Parts = Pick<Deps, 'db' | 'clock' | 'blobs' | 'log'>;
type Claimed = Columns<'blobs', 'id' | 'organization_id' | 'store' | 'store_key' | 'size' | 'moving_key'>;

/**
 * Moves files to the store of BLOB_PROVIDER, including those stored before it was configured. Files that are too large
 * for the memory of a worker stay in PostgreSQL. Several processes may call this function concurrently.
 * @param options.restMs minimum age (ms) of a moved file. Most files of imports are deleted before that age
 * @returns the number of moved files. It is lower than the number of due files if a store does not respond
 */
export async function moveBlobs(deps: Parts, options: { restMs?: number } = {}): Promise<number> {
  let moved = 0;
  for (const blob of await claimBlobs(deps, options.restMs ?? 60_000)) {
    try {
      if (await moveBlob(deps, blob)) moved += 1;
    } catch (error) {
      deps.log.error({ err: error, blob: blob.id }, 'a file could not be moved to the store of BLOB_PROVIDER');
    }
  }
  return moved;
}

async function claimBlobs({ db, clock, blobs: { provider } }: Parts, restMs: number): Promise<Claimed[]> {
  const others = (['postgres', 'disk', 's3'] as const).filter((name) => name !== provider);
  const now = clock.now();
  return across(db, 'maintenance').sql<Claimed>(
    `with due as (
       select id, moving_to as left_in, moving_key as left_key from blobs
       where store = any(cast(:others as text[])) and created_at <= :rested
         and (store <> 'postgres' or size <= ${MOST_BYTES}) and (moving_since is null or moving_since <= :lost)
       order by created_at limit ${PAGE} for update skip locked
     ), left_over as (
       insert into blob_removals (store, store_key) select left_in, left_key from due where left_key is not null
     )
     update blobs b set moving_to = cast(:provider as text), moving_since = :now,
       moving_key = case when :provider = 'postgres' then null else concat(b.organization_id, '/', b.id, '-', cast(:suffix as text)) end
     from due where b.id = due.id
     returning b.id, b.organization_id, b.store, b.store_key, b.size, b.moving_key`,
    {
      others,
      provider,
      now,
      rested: new Date(now.getTime() - restMs),
      lost: new Date(now.getTime() - LEASE_MS),
      // Makes each key unique. Otherwise a copy of the installation with the same store could delete files of the
      // original.
      suffix: randomBytes(4).toString('hex'),
    },
  );
}

/** @returns false when the file was deleted in the meantime */
async function moveBlob({ db, blobs }: Parts, blob: Claimed): Promise<boolean> {
  const bytes = await bytesOf(db, blobs, blob);
  if (blob.moving_key) await blobs.current!.put(blob.moving_key, bytes);
  return inTransaction(db, async (trx) => {
    const rows = across(trx, 'maintenance');
    const [mine] = await rows.sql(
      'select id from blobs where id = :id and store = :store and moving_key is not distinct from :key and moving_to = :to for update',
      { id: blob.id, store: blob.store, key: blob.moving_key, to: blobs.provider },
    );
    if (!mine) {
      // Deletes the copied bytes, because the row was deleted while they were being written.
      if (blob.moving_key) await discard(trx, blobs.provider, blob.moving_key);
      return false;
    }
    if (blobs.provider === 'postgres') await writeChunks(trx, blob.id, bytes);
    await rows.sql(
      `update blobs set store = :store, store_key = :key, moving_to = null, moving_key = null, moving_since = null where id = :id`,
      { id: blob.id, store: blobs.provider, key: blob.moving_key },
    );
    if (blob.store === 'postgres') await rows.table('blob_chunks').where({ blob_id: blob.id }).delete();
    else await discard(trx, blob.store, blob.store_key!);
    return true;
  });
}

/** @throws Error when the number of bytes differs from the row's size */
async function bytesOf(db: Deps['db'], blobs: Deps['blobs'], blob: Claimed): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readBlob(new OrgScope(db, blob.organization_id), blobs, blob.id)) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (bytes.length !== Number(blob.size)) throw new Error(`${bytes.length} bytes, and there should be ${blob.size}`);
  return bytes;
}

async function writeChunks(trx: Trx, id: string, bytes: Buffer): Promise<void> {
  for (let seq = 0; seq * CHUNK_BYTES < bytes.length; seq += 1)
    await across(trx, 'maintenance').insert('blob_chunks', {
      blob_id: id,
      seq,
      bytes: bytes.subarray(seq * CHUNK_BYTES, (seq + 1) * CHUNK_BYTES),
    });
}

async function discard(trx: Trx, store: BlobStoreName, key: string): Promise<void> {
  if (store !== 'postgres') await across(trx, 'maintenance').insert('blob_removals', { store, store_key: key });
}

/**
 * Deletes bytes outside PostgreSQL whose file was deleted: at the end of its retention, or with its contact or
 * workspace. Tries again later if a store does not respond. Several processes may call this function concurrently.
 * @returns the number of deleted files
 */
export async function removeBlobs({ db, clock, blobs, log }: Parts): Promise<number> {
  const rows = across(db, 'maintenance');
  const due = await rows.sql<Columns<'blob_removals', 'id' | 'store' | 'store_key'>>(
    `update blob_removals set attempts = attempts + 1, due_at = cast(:now as timestamptz) + least(attempts + 1, 60) * interval '${RETRY_MS} ms'
     where id in (select id from blob_removals where due_at <= :now order by due_at limit ${REMOVALS} for update skip locked)
     returning id, store, store_key`,
    { now: clock.now() },
  );
  let removed = 0;
  for (const { id, store, store_key: key } of due) {
    try {
      await blobs.outside(store).remove(key);
      await rows.table('blob_removals').where({ id }).delete();
      removed += 1;
    } catch (error) {
      log.warn({ err: error, store }, 'a file could not be deleted from its store, will try again');
      await rows
        .table('blob_removals')
        .where({ id })
        .update({ last_error: errorSummary(error) });
    }
  }
  return removed;
}
