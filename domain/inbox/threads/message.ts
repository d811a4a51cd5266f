import { Readable } from 'node:stream';
import type { StoredAttachment } from '../../../db/json-columns.ts';
import type { Columns } from '../../../db/rows.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { readBlob } from '../../platform/blobs.ts';
import { readSentContents } from '../../sending/control/sent-content.ts';
import { inMailboxes, SENT_STATES } from '../conversation.ts';
import { ASKS_TO_STOP } from './answer.ts';
import { message } from '../../../messages/index.ts';

/** A message with its text, received or sent. */
export interface StoredMessage extends Omit<
  Columns<
    'inbound_messages',
    | 'id'
    | 'mailbox_id'
    | 'thread_id'
    | 'message_id'
    | 'in_reply_to'
    | 'from_email'
    | 'from_name'
    | 'to_emails'
    | 'cc_emails'
    | 'reply_to_emails'
    | 'subject'
    | 'body_plain'
    | 'size'
    | 'received_at'
    | 'error'
    | 'intent'
    | 'answer'
    | 'corrected_kind'
    | 'contact_id'
    | 'campaign_id'
  >,
  'mailbox_id'
> {
  direction: 'received' | 'sent';
  /** Null for a sent message whose mailbox was removed. */
  mailbox_id: string | null;
  bcc_emails: string[];
  /** Null for a sent message. */
  kind: Columns<'inbound_messages', 'kind'>['kind'] | null;
  asks_to_stop: boolean;
  body_html: string | null;
  files: MessageFile[];
}

/** An attachment of a message. */
export interface MessageFile {
  id: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  /** True if the content is stored. Otherwise `left_out` contains the reason. */
  is_stored: boolean;
  left_out: string | null;
}

/** SQL expression for the attachments of the received message `m`, as a JSON list. */
export const RECEIVED_FILES = `coalesce((select jsonb_agg(jsonb_build_object('id', a.id, 'filename', a.filename, 'content_type', a.content_type, 'size_bytes', a.size_bytes,
         'is_stored', a.left_out is null, 'left_out', a.left_out) order by a.place) from inbound_attachments a where a.message_id = m.id), '[]')`;

/** SQL expression for the attachments of the email `d`, as a JSON list. */
export const SENT_FILES = `coalesce((select jsonb_agg(file || jsonb_build_object('id', file -> 'blob_id', 'is_stored', d.files_deleted_at is null,
           'left_out', case when d.files_deleted_at is not null then 'expired' end) order by place)
           from jsonb_array_elements(d.attachments) with ordinality as f(file, place)), '[]')`;

/**
 * Returns one message with its text, received or sent. A sent message is returned as it was sent.
 * @throws AppError not_found for a message that the caller may not read
 */
export async function readMessage(ctx: Ctx, id: string): Promise<StoredMessage> {
  const found = isUuid(id) ? ((await readReceived(ctx, id)) ?? (await readSent(ctx, id))) : undefined;
  if (!found) throw notFound('message');
  return found;
}

async function readReceived(ctx: Ctx, id: string): Promise<StoredMessage | undefined> {
  const mailboxes = ctx.actor.allowedMailboxes;
  const [row] = await reader(ctx).sql<StoredMessage>(
    `select 'received' as direction, m.id, m.mailbox_id, m.thread_id, m.message_id, m.in_reply_to, m.from_email, m.from_name, m.to_emails, m.cc_emails,
       '{}'::text[] as bcc_emails, m.reply_to_emails, m.subject, m.body_plain, m.size, m.received_at, m.error,
       m.kind, m.intent, m.answer, m.corrected_kind, m.contact_id, m.campaign_id, ${ASKS_TO_STOP('m')} as asks_to_stop, h.html as body_html, ${RECEIVED_FILES} as files
     from inbound_messages m left join inbound_bodies h on h.message_id = m.id
     where m.organization_id = :org and m.id = :id ${inMailboxes('m', mailboxes)}`,
    { id, ...(mailboxes ? { mailboxes } : {}) },
  );
  return row;
}

async function readSent(ctx: Ctx, id: string): Promise<StoredMessage | undefined> {
  const mailboxes = ctx.actor.allowedMailboxes;
  const org = reader(ctx);
  const [row] = await org.sql<StoredMessage>(
    `select 'sent' as direction, s.id, s.mailbox_id, coalesce(d.thread_id, s.conversation -> 'messageIds' ->> 0, s.message_id) as thread_id, s.message_id,
       d.in_reply_to, coalesce(b.email, '') as from_email, coalesce(b.name, '') as from_name, coalesce(d.to_emails, array[s.recipient]) as to_emails,
       coalesce(d.cc_emails, '{}') as cc_emails, coalesce(d.bcc_emails, '{}') as bcc_emails, '{}'::text[] as reply_to_emails, s.subject,
       coalesce(d.body_plain, '') as body_plain, 0 as size, coalesce(s.sent_at, s.claimed_at, s.slot_at) as received_at, null as error, d.body_html,
       null as kind, null as intent, null as answer, null as corrected_kind, s.contact_id, s.campaign_id, false as asks_to_stop,
       ${SENT_FILES} as files
     from sends s left join mailboxes b on b.id = s.mailbox_id left join direct_sends d on d.id = s.id
     where s.organization_id = :org and s.id = :id and s.state in ${SENT_STATES} ${inMailboxes('s', mailboxes)}`,
    { id, ...(mailboxes ? { mailboxes } : {}) },
  );
  const kept = row && (await readSentContents(org, [id])).get(id);
  if (!row || !kept) return row;
  const { from, fromName, replyTo, to, cc, bcc, written } = kept;
  return {
    ...row,
    from_email: from,
    from_name: fromName,
    to_emails: to,
    cc_emails: cc,
    bcc_emails: bcc,
    reply_to_emails: replyTo === '' ? [] : [replyTo],
    ...(written
      ? {
          subject: written.subject,
          body_plain: written.text,
          body_html: written.html,
          files: filesThatLeft(written.files, await storedBlobs(org, [written.files])),
        }
      : {}),
  };
}

/** Returns those ids of campaign emails' files whose content is stored, with one query for all emails. */
export async function storedBlobs(
  org: OrgScope,
  emails: readonly (readonly StoredAttachment[] | undefined)[],
): Promise<ReadonlySet<string>> {
  const ids = new Set(emails.flatMap((files = []) => files.map(({ blob_id: id }) => id)));
  if (ids.size === 0) return ids;
  const stored = await org.sql<Columns<'blobs', 'id'>>(
    'select id from blobs where organization_id = :org and id = any(cast(:ids as uuid[]))',
    { ids: [...ids] },
  );
  return new Set(stored.map(({ id }) => id));
}

/**
 * Returns the files that were sent with a campaign email. Their content is stored only while the campaign still has
 * them as attachments.
 * @param stored result of {@link storedBlobs}
 */
export function filesThatLeft(files: readonly StoredAttachment[] = [], stored: ReadonlySet<string>): MessageFile[] {
  return files.map(({ blob_id: id, filename, content_type, size_bytes }) => {
    const isStored = stored.has(id);
    return { id, filename, content_type, size_bytes, is_stored: isStored, left_out: isStored ? null : 'erased' };
  });
}

/**
 * Opens the content of an attachment of a received or sent message, by the attachment's id.
 * @throws AppError not_found for a message or file that the caller may not read, and for a file whose content is not
 * stored
 */
export async function openFile(
  ctx: Ctx,
  messageId: string,
  fileId: string,
): Promise<{ filename: string; sizeBytes: number; bytes: Readable }> {
  const mailboxes = ctx.actor.allowedMailboxes;
  const org = reader(ctx);
  const [file] =
    isUuid(messageId) && isUuid(fileId)
      ? await org.sql<{ filename: string; size_bytes: number; blob_id: string | null }>(
          `select a.filename, a.size_bytes, a.blob_id from inbound_attachments a join inbound_messages m on m.id = a.message_id
           where a.organization_id = :org and a.message_id = :id and a.id = :file ${inMailboxes('m', mailboxes)}
           union all
           select file ->> 'filename', (file ->> 'size_bytes')::int, b.id
           from direct_sends d cross join jsonb_array_elements(d.attachments) file left join blobs b on b.organization_id = :org and b.id = cast(:file as uuid)
           where d.organization_id = :org and d.id = :id and file ->> 'blob_id' = lower(:file) ${inMailboxes('d', mailboxes)}
           union all
           select f.filename, f.size_bytes, f.blob_id from campaign_attachments f join sends s on s.campaign_id = f.campaign_id
           where s.organization_id = :org and s.id = :id and f.blob_id = cast(:file as uuid) ${inMailboxes('s', mailboxes)}`,
          { id: messageId, file: fileId, ...(mailboxes ? { mailboxes } : {}) },
        )
      : [];
  if (!file) throw notFound('file');
  if (file.blob_id === null)
    throw new AppError('not_found', message('threads.file_not_kept'), {
      fix: message('threads.file_not_kept.fix'),
    });
  return {
    filename: file.filename,
    sizeBytes: file.size_bytes,
    bytes: Readable.from(readBlob(org, ctx.blobs, file.blob_id)),
  };
}
