import type { BounceClassification, InboundClassification } from '../../mail/inbound/classify.ts';
import type { InboundMessage } from '../../mail/inbound/parse.ts';
import { replyText } from '../../mail/inbound/reply-text.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { recipientZone } from '../../platform/scheduling/recipient-zone.ts';
import { effectiveSettings } from '../campaign/outreach-settings.ts';
import { warnMailbox } from '../control/mailbox-hold.ts';
import { holdWhileAway } from './hold-while-away.ts';
import { toStoredAnswer } from './classified.ts';
import { confirmSent, MESSAGE_REFERS } from './confirm-sent.ts';
import { emitDelivered, recordBounce, recordComplaint, recordCopyBounce, type Bounce } from './effects.ts';
import type { MatchedSend } from './match.ts';
import { findWriter, recordOptOutByMail } from './opt-out-by-mail.ts';
import { recordReply } from './reply.ts';
import { lockSubject, type ReceivedFacts, type Subject } from './subject.ts';
import { externalText } from '../../platform/external-text.ts';
import { storableText } from '../../platform/storable-text.ts';
import { message, type Message } from '../../../messages/index.ts';

/** A stored incoming message, and the sent email that it refers to. */
interface Received {
  facts: ReceivedFacts;
  message: InboundMessage;
  mailboxId: string;
  send: MatchedSend;
  /** True for a bounce report without our Message-ID, which was matched by the recipient's address only. */
  byAddress: boolean;
}

/** Applies a message to the email that it refers to: as bounce, complaint, away message, opt-out or reply. */
export async function applyInbound(tx: Tx, received: Received, reading: InboundClassification): Promise<void> {
  const { facts, message, send } = received;
  // A reply to an email, or a report about it, proves that it was sent. A bounce sets the email's state itself.
  if (reading.kind !== 'bounce') await confirmSent(tx, send.id, MESSAGE_REFERS);
  const subject = await lockSubject(tx, send.id);
  if (!subject) return;
  switch (reading.kind) {
    case 'bounce':
      return applyBounce(tx, subject, received, reading);
    case 'complaint':
      if (reading.recipient !== null && !send.recipients.includes(reading.recipient)) return;
      return recordComplaint(tx, subject, { reason: complaintReason(reading.feedbackType), source: 'arf' });
    case 'out_of_office':
      if (subject.contactId) {
        await holdWhileAway(tx, subject.contactId, {
          messageId: facts.id,
          receivedAt: facts.receivedAt,
          returnDate: reading.returnDate,
          timezone: await readTimezone(tx, send),
        });
      }
      return;
    case 'automated': {
      const delivered = reading.delivered.find(
        ({ finalRecipient, originalRecipient }) =>
          finalRecipient === send.recipient || originalRecipient === send.recipient,
      );
      if (delivered) emitDelivered(tx, subject, delivered.remoteMta);
      if (reading.unsubscribeRequest && (await isOptOutByMailOn(tx, subject)))
        await recordOptOutByMail(tx, subject, await findWriter(tx, subject, message, replyText(message)), facts);
      return;
    }
    case 'reply': {
      const { unsubscribeRequest, unsubscribeDoubtful } = reading;
      return recordReply(tx, subject, {
        intent: reading.intent,
        confidence: reading.confidence,
        unsubscribeRequest,
        unsubscribeDoubtful,
        writer:
          unsubscribeRequest || unsubscribeDoubtful
            ? await findWriter(tx, subject, message, reading.ownWords)
            : undefined,
        source: 'inbox',
        message: facts,
        answer: toStoredAnswer(reading),
      });
    }
  }
}

function complaintReason(feedbackType: string): Message {
  return message('complaint.feedback', { type: storableText(feedbackType, 50) });
}

/** Returns the contact's time zone (IANA name), or the default of the settings. */
export async function readTimezone(tx: Tx, send: MatchedSend): Promise<string> {
  const { send_time_optimization: settings } = await effectiveSettings(tx.org, send.campaign_id);
  return recipientZone(send.timezone, send.recipient, settings.default_contact_timezone).timezone;
}

/**
 * Records a bounce for the recipient that the report names. If an address forwards its mail, the report names the
 * target. Therefore a report with our Message-ID is applied to our only recipient, regardless of the address that it
 * names. Such a bounce is soft, and so is one without our Message-ID: anyone may forge a report, and only hard bounces
 * suppress.
 */
async function applyBounce(tx: Tx, subject: Subject, received: Received, reading: BounceClassification): Promise<void> {
  const { send, byAddress, mailboxId } = received;
  const named = reading.recipients.find((each) => addressIn(send, each) !== undefined);
  const report = named ?? reading.recipients[0];
  const returned = send.recipients.filter((address) => reading.returnedTo.includes(address));
  const [only] = [send.recipients, returned].find((addresses) => addresses.length === 1) ?? [];
  const address = named ? addressIn(send, named) : only;
  if (!report || address === undefined) return;
  const words = report.diagnosticCode ?? report.status;
  const bounce: Bounce = {
    hard: named !== undefined && !byAddress && report.bounceType === 'hard',
    reason: words === null ? message('bounce.returned') : externalText(words),
    source: 'dsn',
    fault: report.refusal?.class,
  };
  if (byAddress)
    await warnMailbox(
      tx,
      mailboxId,
      'report_without_email',
      message('bounce.of_address', { address, reason: bounce.reason }),
    );
  if (address === send.recipient) await recordBounce(tx, subject, bounce);
  else await recordCopyBounce(tx, { ...bounce, address });
}

/** Returns the recipient of our email that a report's entry names, or undefined if it names none. */
function addressIn(
  send: MatchedSend,
  { finalRecipient, originalRecipient }: { finalRecipient: string; originalRecipient: string | null },
): string | undefined {
  return send.recipients.find((address) => address === finalRecipient || address === originalRecipient);
}

async function isOptOutByMailOn(tx: Tx, { campaignId }: Subject): Promise<boolean> {
  const { reply_intent: settings } = await effectiveSettings(tx.org, campaignId);
  return settings.enabled && settings.auto_suppress_on_unsubscribe_keyword;
}
