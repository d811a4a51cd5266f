import { sha256 } from '../../../lib/crypto.ts';
import { newId } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { InboundFile } from '../../mail/inbound/parse.ts';
import { storeBytes } from '../../platform/blobs.ts';
import { storableText } from '../../platform/storable-text.ts';

/** Maximum size (bytes) of a stored file. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;

/**
 * Stores the files of a received message. A file that is too large or exceeds the workspace's quota is listed without
 * its bytes. The separate quota prevents mail from strangers from using the space for the workspace's own attachments.
 * @param quotaBytes limit for the files of all received messages of the workspace; with 0 no file is stored
 */
export async function storeReceivedFiles(
  tx: Tx,
  messageId: string,
  files: readonly InboundFile[],
  quotaBytes: number,
): Promise<void> {
  if (files.length === 0) return;
  await tx.org.lock(`received-bytes/${tx.org.organizationId}`);
  const [row] = await tx.org.sql<{ bytes: number }>(
    `select coalesce(sum(size_bytes), 0)::float8 as bytes from inbound_attachments where organization_id = :org and blob_id is not null`,
    {},
  );
  let used = row!.bytes;
  for (const [place, { filename, contentType, bytes }] of files.entries()) {
    const leftOut = bytes.length > MAX_FILE_BYTES ? 'too_large' : used + bytes.length > quotaBytes ? 'no_space' : null;
    if (leftOut === null) used += bytes.length;
    await tx.org.insert('inbound_attachments', {
      id: newId(),
      message_id: messageId,
      place,
      filename: storableText(filename, 255),
      content_type: contentType,
      size_bytes: bytes.length,
      sha256: sha256(bytes),
      blob_id: leftOut === null && bytes.length > 0 ? await storeBytes(tx, bytes) : null,
      left_out: leftOut,
      created_at: tx.now,
    });
  }
}
