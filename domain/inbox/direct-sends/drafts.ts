import { json } from '../../../db/connection.ts';
import type { StoredAttachment } from '../../../db/json-columns.ts';
import type { Columns } from '../../../db/rows.ts';
import {
  decodeCursor,
  encodeCursor,
  isTimestampText,
  pageOf,
  type Page,
  type PageRequest,
} from '../../../lib/cursor.ts';
import { notFound, refuseProblems, type Problem } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { assertMailboxAllowed } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { assertUnchanged } from '../../platform/assert-unchanged.ts';
import { deleteBlob } from '../../platform/blobs.ts';
import { inMailboxes } from '../conversation.ts';
import { assertBelowLimit } from '../../platform/full-list.ts';
import { existingIds } from '../../platform/references.ts';
import { MAX_ATTACHMENTS, storeAttachments } from '../../platform/attachments.ts';
import { attachmentProblems, decodedFiles } from './attachments.ts';
import { acceptDirectSend, type Accepted } from './create.ts';
import { MAX_ATTACHMENT_BYTES, type AttachmentInput, type DirectSendInput } from './input.ts';
import { message } from '../../../messages/index.ts';

/** An email that is being written. Before it is sent, only its mailbox and files are validated. */
export type Draft = Columns<
  'email_drafts',
  | 'id'
  | 'user_id'
  | 'mailbox_id'
  | 'thread_id'
  | 'to_emails'
  | 'cc_emails'
  | 'bcc_emails'
  | 'subject'
  | 'body_plain'
  | 'body_html'
  | 'attachments'
  | 'created_at'
  | 'updated_at'
>;

/** Editable fields of a draft. */
interface DraftInput extends Pick<
  DirectSendInput,
  'email_account_id' | 'thread_id' | 'to' | 'cc' | 'bcc' | 'subject' | 'body_plain' | 'body_html'
> {
  /** Files to add to the draft. */
  attachments?: AttachmentInput[] | undefined;
  /** Ids of files of the draft to keep. The others are deleted. */
  kept_attachments?: string[] | undefined;
}

/** Maximum number of drafts of a workspace. */
const MAX_DRAFTS = 1_000;
const COLUMNS = `id, user_id, mailbox_id, thread_id, to_emails, cc_emails, bcc_emails, subject, body_plain, body_html, attachments, created_at, updated_at`;

/** Lists the drafts of the workspace, last changed first. A key restricted to mailboxes sees only their drafts. */
export async function listDrafts(ctx: Ctx, page: PageRequest): Promise<Page<Draft>> {
  const mailboxes = ctx.actor.allowedMailboxes;
  const after = decodeCursor<[at: string, id: string]>('unibox.drafts', mailboxes, page.cursor, [
    isTimestampText,
    isUuid,
  ]);
  const rows = await reader(ctx).sql<Draft & { at_text: string }>(
    `select ${COLUMNS}, to_char(updated_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00' as at_text from email_drafts d
     where organization_id = :org ${inMailboxes('d', mailboxes)} ${after ? 'and (updated_at, id) < (cast(:at as timestamptz), cast(:after as uuid))' : ''}
     order by updated_at desc, id desc limit :limit`,
    {
      limit: page.limit + 1,
      ...(mailboxes ? { mailboxes } : {}),
      ...(after ? { at: after[0], after: after[1] } : {}),
    },
  );
  const found = pageOf(rows, page.limit, (last) => encodeCursor('unibox.drafts', mailboxes, [last.at_text, last.id]));
  return { ...found, rows: found.rows.map(({ at_text: _at, ...row }) => row) };
}

/**
 * Returns one draft.
 * @throws AppError not_found for a draft that the caller may not read
 */
export async function readDraft(ctx: Ctx, id: string): Promise<Draft> {
  const mailboxes = ctx.actor.allowedMailboxes;
  const [row] = isUuid(id)
    ? await reader(ctx).sql<Draft>(
        `select ${COLUMNS} from email_drafts d where organization_id = :org and id = :id ${inMailboxes('d', mailboxes)}`,
        { id, ...(mailboxes ? { mailboxes } : {}) },
      )
    : [];
  if (!row) throw notFound('draft');
  return row;
}

/** Returns the problems of a draft: a mailbox that is not in the workspace, or files of a forbidden type or size. */
export async function draftProblems(
  ctx: Ctx,
  {
    email_account_id: id,
    attachments,
  }: Pick<DraftInput, 'email_account_id'> & { attachments?: Partial<AttachmentInput>[] | undefined },
): Promise<Problem[]> {
  const problems = attachmentProblems(attachments);
  if (id === undefined || !isUuid(id) || (await existingIds(reader(ctx), 'mailboxes', [id])).size > 0) return problems;
  return [{ path: 'body.email_account_id', message: message('directory.unknown_mailbox') }, ...problems];
}

/** Returns the problems of a draft's replacement: those of a draft, and files to keep that it does not have. */
export async function replacementProblems(
  ctx: Ctx,
  id: string,
  input: Parameters<typeof draftProblems>[1] & Pick<DraftInput, 'kept_attachments'>,
): Promise<Problem[]> {
  const problems = await draftProblems(ctx, input);
  const { kept_attachments: keptIds = [] } = input;
  if (keptIds.length === 0 || !isUuid(id)) return problems;
  const draft = await reader(ctx).table('email_drafts').where({ id }).first('attachments');
  return draft ? [...problems, ...unknownFiles(draft.attachments, keptIds)] : problems;
}

function unknownFiles(files: readonly StoredAttachment[], keptIds: readonly string[]): Problem[] {
  const known = new Set(files.map(({ blob_id: fileId }) => fileId));
  return keptIds
    .filter((fileId) => !known.has(fileId.toLowerCase()))
    .map((fileId) => ({ path: 'body.kept_attachments', message: message('drafts.unknown_file', { id: fileId }) }));
}

/**
 * Creates a draft.
 * @throws AppError bad_request for an unknown mailbox, for its files, or for one draft too many; forbidden for a
 * mailbox the key may not use; storage_limit_reached
 */
export async function createDraft(ctx: Ctx, input: DraftInput): Promise<Draft> {
  return transact(ctx, async (tx) => {
    await assertUsable({ ...ctx, trx: tx.trx }, input);
    await assertBelowLimit(tx, 'email_drafts', { most: MAX_DRAFTS, what: message('drafts.most') });
    const id = newId();
    await tx.org.insert('email_drafts', {
      id,
      user_id: ctx.actor.userId,
      ...rowOf(input),
      attachments: json(await storeAttachments(tx, decodedFiles(input.attachments), ctx.config.ORG_STORED_BYTES)),
      created_at: tx.now,
      updated_at: tx.now,
    });
    return readDraft({ ...ctx, trx: tx.trx }, id);
  });
}

/**
 * Replaces the content of a draft. Omitted fields become empty.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @throws AppError as {@link createDraft}, not_found, conflict when the draft has another `updated_at` now
 */
export async function replaceDraft(
  ctx: Ctx,
  id: string,
  input: DraftInput,
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<Draft> {
  return transact(ctx, async (tx) => {
    const { attachments: files, updated_at: updatedAt } = await lockDraft(ctx, tx, id);
    assertUnchanged('draft', updatedAt, expectedUpdatedAt);
    const { attachments: added = [], kept_attachments: keptIds = [] } = input;
    const wanted = new Set(keptIds.map((fileId) => fileId.toLowerCase()));
    const kept = files.filter((file) => wanted.has(file.blob_id));
    await assertUsable({ ...ctx, trx: tx.trx }, input, [
      ...unknownFiles(files, keptIds),
      ...togetherProblems(kept, added),
    ]);
    await deleteFiles(
      tx,
      files.filter((file) => !kept.includes(file)),
    );
    const stored = await storeAttachments(tx, decodedFiles(added), ctx.config.ORG_STORED_BYTES);
    await tx.org
      .table('email_drafts')
      .where({ id })
      .update({ ...rowOf(input), attachments: json([...kept, ...stored]), updated_at: tx.now });
    return readDraft({ ...ctx, trx: tx.trx }, id);
  });
}

/**
 * Deletes a draft.
 * @throws AppError not_found
 */
export async function deleteDraft(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const { attachments: files } = await lockDraft(ctx, tx, id);
    await tx.org.table('email_drafts').where({ id }).delete();
    await deleteFiles(tx, files);
  });
}

/**
 * Sends a draft like {@link acceptDirectSend}, as a reply if it has a conversation. Deletes the draft in the
 * transaction that creates the email, and moves its files to the email. If the email may not be sent, the draft stays
 * unchanged.
 * @throws AppError as {@link acceptDirectSend}, not_found; also for the second of two concurrent sends of one draft
 */
export async function sendDraft(
  ctx: Ctx,
  id: string,
  more: Pick<DirectSendInput, 'attachments' | 'send_mode' | 'scheduled_at'>,
): Promise<Accepted> {
  return transact(ctx, async (tx) => {
    const draft = await lockDraft(ctx, tx, id);
    refuseProblems([...sendableProblems(draft), ...togetherProblems(draft.attachments, more.attachments ?? [])]);
    const given = (list: string[]) => (list.length > 0 ? list : undefined);
    const isReply = draft.thread_id !== null;
    const input: DirectSendInput = {
      email_account_id: draft.mailbox_id ?? undefined,
      thread_id: draft.thread_id ?? undefined,
      to: isReply ? given(draft.to_emails) : draft.to_emails,
      cc: given(draft.cc_emails),
      bcc: given(draft.bcc_emails),
      subject: draft.subject === '' ? undefined : draft.subject,
      body_plain: draft.body_plain,
      body_html: draft.body_html ?? undefined,
      ...more,
    };
    const kind = isReply ? 'reply' : 'compose';
    const accepted = await acceptDirectSend({ ...ctx, trx: tx.trx }, kind, input, draft.attachments);
    await tx.org.table('email_drafts').where({ id }).delete();
    return accepted;
  });
}

/** Returns problems of a new email without the fields that the send routes require in their bodies. */
function sendableProblems(draft: Draft): Problem[] {
  if (draft.thread_id !== null) return [];
  return [
    ...(draft.mailbox_id === null ? [{ path: 'draft.email_account_id', message: message('field.required') }] : []),
    ...(draft.to_emails.length === 0 ? [{ path: 'draft.to', message: message('field.required') }] : []),
    ...(draft.subject.trim() === '' ? [{ path: 'draft.subject', message: message('field.required') }] : []),
  ];
}

/** Returns the problems of stored and new files together, because an email's limits apply to all its files. */
function togetherProblems(stored: readonly StoredAttachment[], added: readonly AttachmentInput[]): Problem[] {
  if (stored.length === 0) return [];
  const bytes =
    stored.reduce((sum, file) => sum + file.size_bytes, 0) +
    added.reduce((sum, { content }) => sum + Buffer.byteLength(content, 'base64'), 0);
  return [
    ...(stored.length + added.length > MAX_ATTACHMENTS
      ? [{ path: 'body.attachments', message: message('drafts.too_many_files', { max: MAX_ATTACHMENTS }) }]
      : []),
    ...(bytes > MAX_ATTACHMENT_BYTES
      ? [
          {
            path: 'body.attachments',
            message: message('drafts.files_too_large', { max: MAX_ATTACHMENT_BYTES }),
          },
        ]
      : []),
  ];
}

async function deleteFiles(tx: Tx, files: readonly StoredAttachment[]): Promise<void> {
  for (const { blob_id: blobId } of files) await deleteBlob(tx.org, blobId);
}

async function lockDraft(ctx: Ctx, tx: Tx, id: string): Promise<Draft> {
  const mailboxes = ctx.actor.allowedMailboxes;
  const [draft] = isUuid(id)
    ? await tx.org.sql<Draft>(
        `select ${COLUMNS} from email_drafts d where organization_id = :org and id = :id ${inMailboxes('d', mailboxes)} for update`,
        { id, ...(mailboxes ? { mailboxes } : {}) },
      )
    : [];
  if (!draft) throw notFound('draft');
  return draft;
}

async function assertUsable(ctx: Ctx, input: DraftInput, further: readonly Problem[] = []): Promise<void> {
  if (input.email_account_id !== undefined) assertMailboxAllowed(ctx.actor, input.email_account_id.toLowerCase());
  const unnamed: Problem[] =
    ctx.actor.allowedMailboxes && input.email_account_id === undefined
      ? [
          {
            path: 'body.email_account_id',
            message: message('drafts.mailbox_required'),
          },
        ]
      : [];
  refuseProblems([...unnamed, ...(await draftProblems(ctx, input)), ...further]);
}

function rowOf(input: DraftInput) {
  const { to = [], cc = [], bcc = [], subject = '', body_plain = '' } = input;
  return {
    mailbox_id: input.email_account_id?.toLowerCase() ?? null,
    thread_id: input.thread_id ?? null,
    to_emails: to,
    cc_emails: cc,
    bcc_emails: bcc,
    subject,
    body_plain,
    body_html: input.body_html ?? null,
  };
}
