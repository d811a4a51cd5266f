import type { StoredAttachment } from '../../../db/json-columns.ts';
import { sha256 } from '../../../lib/crypto.ts';
import { AppError, type Problem } from '../../../lib/errors.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { storeBytes } from '../../platform/blobs.ts';
import { MAX_ATTACHMENT_BYTES, type AttachmentInput } from './input.ts';
import { message } from '../../../messages/index.ts';

/** Endings of file names that mail servers refuse because the files can run code. */
const REFUSED_ENDINGS =
  /\.(?:ade|adp|apk|app|bat|chm|cmd|com|cpl|dll|dmg|exe|hta|ins|iso|isp|jar|jse?|lib|lnk|mde|ms[cipt]|nsh|pif|ps1|scr|sct|shb|sys|vbe?|vbs|vxd|ws[cfh]|xll)$/i;
/** Media types that would be read as messages or as further parts. */
const REFUSED_TYPES = /^(?:message|multipart)\//i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Returns the problems of an email's attachments. */
export function attachmentProblems(files: readonly Partial<AttachmentInput>[] = []): Problem[] {
  const problems: Problem[] = [];
  let total = 0;
  for (const [index, { filename, content_type: type, content }] of files.entries()) {
    const path = `body.attachments.${index}`;
    if (filename !== undefined && REFUSED_ENDINGS.test(filename))
      problems.push({ path: `${path}.filename`, message: message('compose.file_refused') });
    if (type !== undefined && REFUSED_TYPES.test(type))
      problems.push({ path: `${path}.content_type`, message: message('compose.type_refused') });
    if (content === undefined) continue;
    if (content.length % 4 !== 0 || !BASE64.test(content))
      problems.push({ path: `${path}.content`, message: message('compose.not_base64') });
    total += Math.floor((content.length * 3) / 4);
  }
  if (total > MAX_ATTACHMENT_BYTES)
    problems.push({
      path: 'body.attachments',
      message: message('compose.files_too_large', { max: MAX_ATTACHMENT_BYTES }),
    });
  return problems;
}

/**
 * Stores the attachments of an email. Checks the workspace's quota under one lock, so that parallel uploads cannot
 * exceed it.
 * @param quotaBytes maximum size of all files of the workspace; 0 for no limit
 * @throws AppError storage_limit_reached
 */
export async function storeAttachments(
  tx: Tx,
  files: readonly AttachmentInput[],
  quotaBytes: number,
): Promise<StoredAttachment[]> {
  if (files.length === 0) return [];
  const read = files.map(({ content, ...rest }) => ({ ...rest, bytes: Buffer.from(content, 'base64') }));
  const added = read.reduce((sum, { bytes }) => sum + bytes.length, 0);
  await tx.org.lock(`stored-bytes/${tx.org.organizationId}`);
  if (quotaBytes > 0) {
    const [used] = await tx.org.sql<{ bytes: number }>(
      `select coalesce((select sum(size) from blobs where organization_id = :org), 0)::float8
         - coalesce((select sum(size_bytes) from inbound_attachments where organization_id = :org and blob_id is not null), 0)::float8 as bytes`,
      {},
    );
    if (used!.bytes + added > quotaBytes)
      throw new AppError('storage_limit_reached', message('compose.storage_full', { max: quotaBytes }), {
        fix: message('compose.storage_full.fix'),
      });
  }
  const stored: StoredAttachment[] = [];
  for (const { filename, content_type, bytes } of read)
    stored.push({
      blob_id: await storeBytes(tx, bytes),
      filename,
      content_type,
      size_bytes: bytes.length,
      sha256: sha256(bytes),
    });
  return stored;
}
