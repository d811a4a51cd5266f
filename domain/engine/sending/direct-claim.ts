import MailComposer from 'nodemailer/lib/mail-composer';
import { json } from '../../../db/connection.ts';
import type { StoredAttachment } from '../../../db/json-columns.ts';
import { newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { Tx } from '../../kernel/transact.ts';
import { buildDirectMessage } from '../../mail/messages/build-direct.ts';
import { readBlob } from '../../records/blobs.ts';
import { settleDirectSend, type DirectSettlement } from '../../records/direct-sends.ts';
import { refusedRecipients } from '../../records/refused-recipients.ts';
import { releaseReservedSends } from '../control/release.ts';
import { mailboxRefusal, sealed, STALE_SLOT_MS, takeServer, type Claim, type ClaimRow, type Json } from './claimed.ts';

/**
 * Takes the reserved email of a direct send (`reserved -> sending`), its rows locked. Suppression, state and mailbox are
 * looked at again: addresses that must not be mailed are left out, and where none of those it is to is left, it has failed.
 */
export async function claimDirect(
  ctx: Ctx,
  tx: Tx,
  row: ClaimRow & { direct: Json },
  acquire: (host: string) => boolean,
): Promise<Claim> {
  const { send, direct, mailbox } = row;
  const release = () => releaseReservedSends(tx, { sendId: send.id });
  const refusal =
    direct.state !== 'queued'
      ? direct.state
      : (mailboxRefusal(tx, mailbox) ??
        (new Date(send.slot_at).getTime() < tx.now.getTime() - STALE_SLOT_MS ? 'slot_missed' : undefined));
  if (refusal || !mailbox) {
    await release();
    return { kind: 'gone', outcome: refusal ?? 'mailbox_inactive' };
  }
  const giveUp = async (settlement: DirectSettlement): Promise<Claim> => {
    await release();
    await settleDirectSend(tx, send.id, settlement);
    return { kind: 'gone', outcome: settlement.code ?? settlement.state };
  };
  const all: string[] = [...direct.to_emails, ...direct.cc_emails, ...direct.bcc_emails];
  const refused = await refusedRecipients(tx.org, all, tx.now);
  const allowed = (list: string[]) => list.filter((address) => !refused.has(address));
  const to = allowed(direct.to_emails);
  if (to.length === 0)
    return giveUp({
      state: 'failed',
      code: 'suppressed',
      reason: 'Every address it is to is suppressed or has opted out',
    });
  const server = await takeServer(ctx, tx, { ...row, mailbox }, acquire);
  if ('answer' in server) return server.answer;
  const { options, errors } = buildDirectMessage({
    sender: { email: mailbox.email, name: mailbox.name, replyTo: mailbox.reply_to, sendAs: mailbox.send_as_email },
    to,
    cc: allowed(direct.cc_emails),
    bcc: allowed(direct.bcc_emails),
    subject: direct.subject,
    text: direct.body_plain,
    html: direct.body_html,
    messageId: direct.message_id,
    inReplyTo: direct.in_reply_to,
    references: direct.reference_ids,
    attachments: await readAttachments(tx, direct.attachments),
  });
  if (errors.length > 0)
    return giveUp({
      state: 'failed',
      code: 'composition_failed',
      reason: errors.map(({ field, message }) => `${field}: ${message}`).join('; '),
    });
  const composed = new MailComposer(options).compile();
  const envelope = composed.getEnvelope();
  const raw = await composed.build();
  const token = await markSending(tx, row, to[0]!, [...refused.keys()]);
  return {
    kind: 'claimed',
    sendId: send.id,
    token,
    attempts: send.attempts + 1,
    target: server.target,
    raw,
    messageId: direct.message_id,
    recipient: to[0]!,
    mailbox: { ...sealed(row)!, save_to_sent: mailbox.save_to_sent },
    envelope: { from: envelope.from || mailbox.email, to: envelope.to as string[] },
    isDirect: true,
    enrollmentId: null,
    facts: {
      campaign_id: null,
      step_id: null,
      contact_id: direct.contact_id,
      contact_email: to[0]!,
      email_account_id: mailbox.id,
      task_id: send.id,
      message_id: direct.message_id,
    },
  };
}

async function readAttachments(tx: Tx, files: readonly StoredAttachment[]) {
  const read: { filename: string; contentType: string; content: Buffer }[] = [];
  for (const { blob_id: blobId, filename, content_type: contentType } of files) {
    const chunks: Buffer[] = [];
    for await (const chunk of readBlob(tx.org, blobId)) chunks.push(chunk);
    read.push({ filename, contentType, content: Buffer.concat(chunks) });
  }
  return read;
}

/**
 * Writes that this attempt has the email: its token, Message-ID and conversation, and whom it leaves out.
 * @returns the token, which the settle has to name
 */
async function markSending(
  tx: Tx,
  { send, direct }: ClaimRow & { direct: Json },
  recipient: string,
  leftOut: readonly string[],
): Promise<string> {
  const token = newId();
  const messageIds = [...new Set([direct.thread_id, ...direct.reference_ids, direct.message_id])];
  await tx.org.sql(
    `with left_out as (
       update direct_sends set left_out = cast(:leftOut as text[]), waiting_for = null, waiting_until = null, updated_at = :now
       where organization_id = :org and id = :send
     )
     update sends set state = 'sending', claim_token = :token, claimed_at = :now, attempts = attempts + 1, updated_at = :now,
       handover = 'pending', message_id = :message, subject = :subject, conversation = :conversation, recipient = :recipient
     where organization_id = :org and id = :send`,
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
  );
  return token;
}
