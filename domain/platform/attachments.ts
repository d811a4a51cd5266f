import type { StoredAttachment } from '../../db/json-columns.ts';
import type { Columns } from '../../db/rows.ts';
import { sha256 } from '../../lib/crypto.ts';
import { AppError, type Problem } from '../../lib/errors.ts';
import { message } from '../../messages/index.ts';
import { readBlob, storeBytes } from './blobs.ts';
import type { Ctx } from './kernel/context.ts';
import { reader, type Tx } from './kernel/transact.ts';

/** A file to attach to emails. */
export interface AttachedFile {
  filename: string;
  content_type: string;
  content: Buffer;
}

/** Maximum number of attachments of one email. */
export const MAX_ATTACHMENTS = 10;

/** Endings of file names that mail servers refuse because the files can run code. */
const REFUSED_ENDINGS =
  /\.(?:ade|adp|apk|app|bat|chm|cmd|com|cpl|dll|dmg|exe|hta|ins|iso|isp|jar|jse?|lib|lnk|mde|ms[cipt]|nsh|pif|ps1|scr|sct|shb|sys|vbe?|vbs|vxd|ws[cfh]|xll)$/i;
/** Media types refused for attachments, because mail programs would read them as messages or as further parts. */
const REFUSED_TYPES = /^(?:message|multipart)\//i;

/**
 * Returns the problems of a file's name and type.
 * @param paths paths of file name and content type in the request
 */
export function fileProblems(
  { filename, content_type: type }: Partial<Pick<AttachedFile, 'filename' | 'content_type'>>,
  paths: { filename: string; type: string },
): Problem[] {
  const problems: Problem[] = [];
  if (filename !== undefined && REFUSED_ENDINGS.test(filename))
    problems.push({ path: paths.filename, message: message('compose.file_refused') });
  if (type !== undefined && REFUSED_TYPES.test(type))
    problems.push({ path: paths.type, message: message('compose.type_refused') });
  return problems;
}

/**
 * Stores files to attach. Checks the workspace's quota under one lock, so that parallel uploads cannot exceed it.
 * @param quotaBytes maximum size of all files of the workspace; 0 for no limit
 * @throws AppError storage_limit_reached
 */
export async function storeAttachments(
  tx: Tx,
  files: readonly AttachedFile[],
  quotaBytes: number,
): Promise<StoredAttachment[]> {
  if (files.length === 0) return [];
  const added = files.reduce((sum, { content }) => sum + content.length, 0);
  await tx.org.lock(`stored-bytes/${tx.org.organizationId}`);
  if (quotaBytes > 0) {
    const [used] = await tx.org.sql<{ bytes: number }>(
      `select coalesce((select sum(size) from blobs where organization_id = :org), 0)::float8
         - coalesce((select sum(size_bytes) from inbound_attachments where organization_id = :org and blob_id is not null), 0)::float8
         - coalesce((select sum(size_bytes) from workspace_exports where organization_id = :org), 0)::float8 as bytes`,
      {},
    );
    if (used!.bytes + added > quotaBytes)
      throw new AppError('storage_limit_reached', message('compose.storage_full', { max: quotaBytes }), {
        fix: message('compose.storage_full.fix'),
      });
  }
  const stored: StoredAttachment[] = [];
  for (const { filename, content_type, content } of files)
    stored.push({
      blob_id: await storeBytes(tx, content),
      filename,
      content_type,
      size_bytes: content.length,
      sha256: sha256(content),
    });
  return stored;
}

/** Bytes of files that are not stored in PostgreSQL, by file id. */
export type FetchedFiles = ReadonlyMap<string, Buffer>;

/**
 * Thrown when a transaction needs files that are stored outside PostgreSQL. {@link withFiles} then fetches the files
 * and repeats the transaction.
 */
class FilesNotLoaded extends Error {
  readonly blobIds: readonly string[];

  constructor(blobIds: readonly string[]) {
    super('these files are to be fetched first');
    this.blobIds = blobIds;
  }
}

/**
 * Runs a transaction that reads attachments. Files outside PostgreSQL are fetched between two attempts, so that no lock
 * waits for the file store.
 */
export async function withFiles<T>(ctx: Ctx, run: (fetched: FetchedFiles) => Promise<T>): Promise<T> {
  try {
    return await run(new Map());
  } catch (error) {
    if (!(error instanceof FilesNotLoaded)) throw error;
    const fetched = new Map<string, Buffer>();
    for (const id of error.blobIds) fetched.set(id, await bytesOf(ctx, reader(ctx), id));
    return run(fetched);
  }
}

/** @throws FilesNotLoaded when a file is neither in PostgreSQL nor fetched */
export async function readAttachments(
  ctx: Ctx,
  tx: Tx,
  files: readonly Pick<StoredAttachment, 'blob_id' | 'filename' | 'content_type'>[],
  fetched: FetchedFiles,
): Promise<AttachedFile[]> {
  if (files.length === 0) return [];
  const outside = await tx.org.sql<Columns<'blobs', 'id'>>(
    `select id from blobs where organization_id = :org and id = any(cast(:ids as uuid[])) and store <> 'postgres'`,
    { ids: files.map(({ blob_id: id }) => id) },
  );
  const missing = outside.filter(({ id }) => !fetched.has(id));
  if (missing.length > 0) throw new FilesNotLoaded(missing.map(({ id }) => id));
  const read: AttachedFile[] = [];
  for (const { blob_id: id, filename, content_type } of files)
    read.push({ filename, content_type, content: fetched.get(id) ?? (await bytesOf(ctx, tx.org, id)) });
  return read;
}

async function bytesOf(ctx: Ctx, org: Tx['org'], id: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readBlob(org, ctx.blobs, id)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
