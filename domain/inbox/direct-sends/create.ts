import type { Message } from '../../../messages/index.ts';
import { json } from '../../../db/connection.ts';
import type { StoredAttachment, PolicyReason } from '../../../db/json-columns.ts';
import type { Columns } from '../../../db/rows.ts';
import { refuseProblems } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import { start } from '../../../temporal/dispatch.ts';
import { directSendWorkflow } from '../../../workflows/direct-send/contract.ts';
import { authorizeAction } from '../../approvals/authorize.ts';
import { holdForApproval } from '../../approvals/hold.ts';
import { approvalUrl } from '../../approvals/link.ts';
import type { SenderColumns } from '../../sending/approved.ts';
import { reserveDirect } from '../../sending/direct-slot.ts';
import { assertMailboxAllowed } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { replyHeaders, replySubject } from '../../mail/messages/reply.ts';
import { headerText } from '../../mail/messages/text.ts';
import { messageIdFor } from '../../mail/messages/threading.ts';
import { writeBodies } from '../../mail/messages/write-bodies.ts';
import { refusedRecipients } from '../../directory/refused-recipients.ts';
import { storeAttachments } from '../../platform/attachments.ts';
import { decodedFiles } from './attachments.ts';
import { answerByHand, findConversation, type AnsweredMessage, type Conversation } from './conversation.ts';
import { MAX_RECIPIENTS, type DirectSendInput, type DirectSendKind } from './input.ts';
import { directSendProblems } from './problems.ts';
import { directSendApproval } from './send-approval.ts';
import { findSender } from './sender.ts';
import { message } from '../../../messages/index.ts';

/** Result of a request to send: the email is queued, or waits for a person. */
export interface Accepted {
  result: 'executed' | 'awaiting_approval';
  task_id: string;
  /**
   * Expected time of sending: the time of the email's slot, its scheduled time, or the time at which its mailbox is
   * checked again.
   */
  scheduled_at: Date;
  send_mode: 'instant' | 'smart' | 'scheduled';
  thread_id: string;
  /** Suppressed addresses of cc and bcc, which do not get the email. */
  left_out: { address: string; reason: Message }[];
  approval: { id: string; url: string; expires_at: Date; reasons: PolicyReason[] } | null;
}

/**
 * Accepts an email written by a person or an agent (POST /emails/:id/send, /unibox/compose, /unibox/reply). If a person
 * sends, no approval is needed. If an API key or application sends, a policy must allow it or a person must approve it.
 * After that, a slot of the mailbox is reserved. Suppression, holds, the daily cap and the minimum gap apply to every
 * sender. A reply is sent from a mailbox of its conversation, with its subject, and with headers that refer to the
 * earlier message. Campaigns are not affected.
 * @param files stored files that become the email's, in addition to those of its input
 * @throws AppError bad_request with every problem, forbidden for a mailbox the key may not use, storage_limit_reached
 */
export async function acceptDirectSend(
  ctx: Ctx,
  kind: DirectSendKind,
  input: DirectSendInput,
  files: readonly StoredAttachment[] = [],
): Promise<Accepted> {
  if (input.email_account_id !== undefined) assertMailboxAllowed(ctx.actor, input.email_account_id.toLowerCase());
  return transact(ctx, async (tx) => {
    refuseProblems(await directSendProblems({ ...ctx, trx: tx.trx }, kind, input));
    const conversation = await findAnswered(ctx, tx, input);
    const answered = conversation?.answered;
    const sender = (await findSender(tx.org, input.email_account_id?.toLowerCase() ?? answered!.mailbox_id!))!;
    assertMailboxAllowed(ctx.actor, sender.id);
    const { leftOut, ...composed } = await composeRow(ctx, tx, kind, input, sender, answered);
    const row = { ...composed, attachments: [...files, ...composed.attachments] };
    const addresses = new Set([...row.to_emails, ...row.cc_emails, ...row.bcc_emails]);
    const recipients = addresses.size;
    if (recipients > MAX_RECIPIENTS)
      refuseProblems([
        { path: 'body.reply_all', message: message('compose.too_many_recipients', { max: MAX_RECIPIENTS }) },
      ]);
    const answers = kind === 'reply' && [...addresses].every((address) => conversation?.people.has(address));
    // Requires the permission for a new email if a reply is sent to people outside of its conversation.
    const capability = answers ? 'inbox.reply' : 'email.compose';
    const authorization = await authorizeAction(tx, ctx.actor, { capability, mailboxIds: [sender.id], recipients });
    const waits = authorization.decision === 'awaiting_approval';
    await tx.org.insert('direct_sends', {
      ...row,
      state: waits ? 'awaiting_approval' : 'queued',
      attachments: json(row.attachments),
    });
    tx.audit({
      action: waits ? 'direct_send.requested' : 'direct_send.queued',
      entityType: 'direct_send',
      entityId: row.id,
      metadata: { kind, mailbox_id: sender.id, recipients },
    });
    const accepted: Accepted = {
      result: waits ? 'awaiting_approval' : 'executed',
      task_id: row.id,
      scheduled_at: row.scheduled_at,
      send_mode: row.send_mode,
      thread_id: row.thread_id,
      left_out: leftOut,
      approval: null,
    };
    tx.intend(start(directSendWorkflow, { organizationId: tx.org.organizationId, directSendId: row.id }));
    if (authorization.decision === 'awaiting_approval') {
      const { id, expires_at } = await holdForApproval(tx, ctx.config, {
        requester: ctx.actor,
        capability,
        subject: directSendApproval,
        subjectId: row.id,
        reasons: authorization.reasons,
        locked: { email: row, sender },
      });
      await tx.org.table('direct_sends').where({ id: row.id }).update({ approval_id: id });
      const url = approvalUrl(ctx.config, id);
      return { ...accepted, approval: { id, url, expires_at, reasons: [...authorization.reasons] } };
    }
    if (row.scheduled_at > tx.now) return accepted;
    const slot = await reserveDirect(tx, row);
    return slot.kind === 'never' ? accepted : { ...accepted, scheduled_at: slot.at };
  });
}

function findAnswered(ctx: Ctx, tx: Tx, input: DirectSendInput): Promise<Conversation | undefined> {
  const { thread_id: threadId, in_reply_to: inReplyTo } = input;
  return findConversation(tx.org, { threadId, inReplyTo }, ctx.actor.allowedMailboxes);
}

/** Returns the row of an email as it will be sent. Removes suppressed addresses from cc and bcc. */
async function composeRow(
  ctx: Ctx,
  tx: Tx,
  kind: DirectSendKind,
  input: DirectSendInput,
  sender: SenderColumns,
  answered: AnsweredMessage | undefined,
) {
  const id = newId();
  const messageId = messageIdFor(id, sender.send_as_email || sender.email);
  const to = [...new Set(input.to ?? answered!.correspondents)];
  const copies = [...(input.cc ?? []), ...(input.reply_all && answered ? othersOf(answered, sender) : [])];
  const others = [...copies, ...(input.bcc ?? [])];
  const refused = await refusedRecipients(tx.org, others, tx.now, answerByHand(ctx, kind, answered));
  const rest = (list: string[] | undefined, taken: readonly string[]) =>
    [...new Set(list)].filter((address) => !refused.has(address) && !taken.includes(address));
  const cc = rest(copies, to);
  const headers = answered ? replyHeaders(answered) : { inReplyTo: null, references: [] };
  const [contact] = await tx.org.sql<Columns<'contacts', 'id'>>(
    'select id from contacts where organization_id = :org and email = :email',
    { email: to[0]! },
  );
  return {
    id,
    kind,
    mailbox_id: sender.id,
    to_emails: to,
    cc_emails: cc,
    bcc_emails: rest(input.bcc, [...to, ...cc]),
    subject: answered ? replySubject(input.subject, answered.subject) : headerText(input.subject ?? ''),
    ...writeBodies(input, sender),
    attachments: await storeAttachments(tx, decodedFiles(input.attachments), ctx.config.ORG_STORED_BYTES),
    message_id: messageId,
    thread_id: answered?.thread_id ?? messageId,
    in_reply_to: headers.inReplyTo,
    reference_ids: headers.references,
    about_send_id: answered?.about_send_id ?? null,
    contact_id: contact?.id ?? null,
    send_mode: input.send_mode ?? 'instant',
    scheduled_at: input.scheduled_at ?? tx.now,
    user_id: ctx.actor.userId,
    api_key_id: ctx.actor.apiKeyId ?? null,
    oauth_grant_id: ctx.actor.oauthGrantId ?? null,
    attempts: 0,
    left_out: [...refused.keys()],
    leftOut: [...refused].map(([address, reason]) => ({ address, reason })),
    created_at: tx.now,
    updated_at: tx.now,
  };
}

/** Returns the additional recipients of a reply to all, without the address of the sending mailbox. */
function othersOf({ others }: AnsweredMessage, sender: SenderColumns): string[] {
  return (others ?? []).filter((address) => address !== sender.email && address !== sender.send_as_email);
}
