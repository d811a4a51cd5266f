import type { SendMailOptions } from 'nodemailer';
import { json } from '../../db/connection.ts';
import { newId } from '../../lib/ids.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { buildDirectMessage } from '../mail/messages/build-direct.ts';
import { readAttachments, type FetchedFiles } from '../platform/attachments.ts';
import { refusedRecipients, type AnswerByHand } from '../directory/refused-recipients.ts';
import { approvalChanges } from './approved.ts';
import { releaseReservedSends } from './control/release.ts';
import {
  buildClaim,
  composeMessage,
  mailboxRefusal,
  STALE_SLOT_MS,
  acquireMailHost,
  type Claim,
  type ClaimRow,
  type Json,
} from './claimed.ts';
import { headersOf, storeContent } from './control/sent-content.ts';
import { failDirectSend } from './direct-failure.ts';
import { message, type Message } from '../../messages/index.ts';
import { faultsWithPlaces } from '../mail/messages/render-source.ts';

/**
 * Claims the reserved email of a direct send (`reserved -> sending`) and locks its rows. Checks suppression, state and
 * mailbox again. Removes suppressed addresses, and fails the email when no `To` address is left.
 */
export async function claimDirect(
  ctx: Ctx,
  tx: Tx,
  row: ClaimRow & { direct: Json },
  acquire: (host: string) => boolean,
  fetched: FetchedFiles,
): Promise<Claim> {
  const { send, direct, mailbox } = row;
  const refusal = refusalOf(tx, row);
  if (refusal || !mailbox) {
    await releaseReservedSends(tx, { sendId: send.id });
    return { kind: 'gone', outcome: refusal ?? 'mailbox_inactive' };
  }
  const changed = approvalChanges(row, undefined);
  if (changed) {
    const email = { subjectId: send.id, enrollmentId: null, approvalId: row.approval_id, fields: changed.fields };
    return { kind: 'changed', type: 'direct_send', email };
  }
  const audience = await allowedOf(tx, direct);
  const [recipient] = audience.to;
  if (recipient === undefined) return failPermanently(tx, row, 'suppressed', message('direct.all_suppressed'));
  const attachments = await readAttachments(ctx, tx, direct.attachments, fetched);
  const whole = { ...row, mailbox };
  const server = await acquireMailHost(ctx, tx, whole, acquire);
  if ('answer' in server) return server.answer;
  const { options, errors } = buildDirectMessage({
    ...audience,
    sender: { email: mailbox.email, name: mailbox.name, replyTo: mailbox.reply_to, sendAs: mailbox.send_as_email },
    subject: direct.subject,
    text: direct.body_plain,
    html: direct.body_html,
    messageId: direct.message_id,
    inReplyTo: direct.in_reply_to,
    references: direct.reference_ids,
    attachments,
  });
  if (errors.length > 0) {
    return failPermanently(tx, row, 'composition_failed', faultsWithPlaces(errors));
  }
  const composed = await composeMessage(options, mailbox);
  const token = await markSending(tx, row, { recipient, leftOut: audience.leftOut, options });
  return buildClaim(whole, {
    ...composed,
    token,
    target: server.target,
    messageId: direct.message_id,
    recipient,
    isDirect: true,
    enrollmentId: null,
    facts: {
      campaign_id: null,
      step_id: null,
      contact_id: direct.contact_id,
      contact_email: recipient,
      email_account_id: mailbox.id,
      task_id: send.id,
      message_id: direct.message_id,
    },
  });
}

/** Returns the reason why this email must not be sent now, or undefined if it may be sent. */
function refusalOf(tx: Tx, row: ClaimRow & { direct: Json }): string | undefined {
  const { send, direct } = row;
  if (direct.state !== 'queued') return direct.state;
  const isLate = new Date(send.slot_at).getTime() < tx.now.getTime() - STALE_SLOT_MS;
  return mailboxRefusal(tx, row) ?? (isLate ? 'slot_missed' : undefined);
}

/** Returns the recipients that may be mailed, and the refused addresses. */
async function allowedOf(tx: Tx, direct: Json) {
  const { to_emails: to, cc_emails: cc, bcc_emails: bcc } = direct;
  const refused = await refusedRecipients(tx.org, [...to, ...cc, ...bcc], tx.now, answerByHand(direct));
  const allowed = (list: string[]) => list.filter((address) => !refused.has(address));
  return { to: allowed(to), cc: allowed(cc), bcc: allowed(bcc), leftOut: [...refused.keys()] };
}

function answerByHand({
  kind,
  api_key_id: key,
  oauth_grant_id: grant,
  thread_id: threadId,
  created_at: at,
}: Json): AnswerByHand | undefined {
  const isByHand = kind === 'reply' && key === null && grant === null;
  return isByHand ? { threadId, writtenAt: new Date(at) } : undefined;
}

/** Fails the direct send permanently. */
async function failPermanently(
  tx: Tx,
  { send, direct }: ClaimRow & { direct: Json },
  code: string,
  reason: Message,
): Promise<Claim> {
  const email = { id: send.id, mailbox_id: direct.mailbox_id, attempts: direct.attempts };
  await failDirectSend(tx, email, send.again, { code, reason });
  return { kind: 'gone', outcome: code };
}

/**
 * Stores the claim of this attempt: token, Message-ID, conversation, headers and refused addresses.
 * @returns the token that is needed to store the result
 */
async function markSending(
  tx: Tx,
  { send, direct }: ClaimRow & { direct: Json },
  { recipient, leftOut, options }: { recipient: string; leftOut: readonly string[]; options: SendMailOptions },
): Promise<string> {
  const token = newId();
  const messageIds = [...new Set([direct.thread_id, ...direct.reference_ids, direct.message_id])];
  await storeContent(
    tx,
    (kept) => `with left_out as (
       update direct_sends set left_out = cast(:leftOut as text[]), waiting_for = null, waiting_until = null, updated_at = :now
       where organization_id = :org and id = :send
     ), ${kept}
     update sends set state = 'sending', claim_token = :token, claimed_at = :now, attempts = attempts + 1, updated_at = :now,
       handover = 'pending', message_id = :message, subject = :subject, conversation = :conversation, recipient = :recipient
     where organization_id = :org and id = :send and exists (select from kept) returning id`,
    {
      send: send.id,
      token,
      leftOut: [...leftOut],
      now: tx.now,
      recipient,
      message: direct.message_id,
      subject: direct.subject,
      conversation: json({ subject: direct.subject, messageIds }),
    },
    // No copy is stored, because the row in `direct_sends` contains subject and bodies.
    { content: headersOf(options), copy: null },
  );
  return token;
}
