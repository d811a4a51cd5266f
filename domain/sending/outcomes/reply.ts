import type { StoredAnswer } from '../../../db/json-columns.ts';
import type { Columns } from '../../../db/rows.ts';
import type { ReplyIntent, ReplyKind } from '../../mail/inbound/intent.ts';
import { logCampaign } from '../campaign/log.ts';
import { finishEnrollment, finishEnrollments } from '../control/finish.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { effectiveSettings, stopsEverywhere } from '../campaign/outreach-settings.ts';
import { recordOptOutByMail, type Writer } from './opt-out-by-mail.ts';
import { announceReading } from './classified.ts';
import { askAboutOptOut } from './opt-out-question.ts';
import { recordEngagement, subjectPayload, type ReceivedFacts, type Subject } from './subject.ts';
import { message } from '../../../messages/index.ts';
import { json } from '../../../db/connection.ts';

/** A reply written by a person. */
interface Reply {
  intent: string | null;
  /** Confidence of the intent, 0 to 1. */
  confidence: number;
  unsubscribeRequest: boolean;
  /** True if the reply may be an opt-out and a person must decide. */
  unsubscribeDoubtful?: boolean;
  /** Author of a certain or doubtful opt-out request. Absent when a client of the API reports the reply. */
  writer?: Writer | undefined;
  source: 'inbox' | 'reported';
  /** The stored message. Null when a client of the API reports the reply. */
  message: ReceivedFacts | null;
  /** Detailed classification of the reply. Absent when a client reports the reply, or reply_intent is off. */
  answer?: StoredAnswer | null;
}

/** Intents of automatic and away messages, which are not treated as replies. */
const MACHINE_INTENTS: ReadonlySet<string> = new Set<ReplyIntent>(['out_of_office', 'automated']);

/** Returns true if a message with this intent is treated as a person's reply. */
export function isHumanIntent(intent: string | null): boolean {
  return intent === null || !MACHINE_INTENTS.has(intent);
}

/**
 * Records a human reply and applies `stop_on_reply` and `reply_intent`. The reply ends the contact's enrollment in this
 * campaign if `stop_on_reply` is on, or if it is negative and `auto_pause_on_negative` is on. An intent that stops
 * everywhere (negative, by default) ends all campaigns of the contact. An opt-out request unsubscribes its author. A
 * doubtful request ends the enrollment regardless of `stop_on_reply`, and a person must decide; so does any request if
 * `auto_suppress_on_unsubscribe_keyword` is off.
 */
export async function recordReply(tx: Tx, subject: Subject, reply: Reply): Promise<void> {
  await countReply(tx, subject, reply);
  const { message: received } = reply;
  if (!subject.isDirect)
    tx.emit('campaign.reply_received', {
      ...subjectPayload(subject),
      email_id: received?.id ?? null,
      reply_message_id: received?.messageId ?? null,
      thread_id: received?.threadId ?? null,
      from_email: received?.fromEmail ?? null,
      subject: received?.subject ?? null,
      received_at: received?.receivedAt.toISOString() ?? null,
      intent: reply.intent,
      intent_confidence: reply.confidence,
    });
  const asksToStop = await followReply(tx, subject, reply);
  const { answer, intent, confidence } = reply;
  if (received && answer)
    await announceReading(tx, subject, received, {
      kind: answer.kind as ReplyKind,
      intent,
      confidence,
      force: answer.force,
      asksToStop,
    });
}

/** Counts a reply once, for its email, and in the engagement record. `at` is the reply's time; defaults to now. */
export async function countReply(
  tx: Tx,
  subject: Subject,
  { intent, source, message: received, at = tx.now }: Pick<Reply, 'intent' | 'source' | 'message'> & { at?: Date },
): Promise<void> {
  const { send } = subject;
  if (send)
    await tx.org
      .table('sends')
      .where({ id: send.id })
      .whereNull('replied_at')
      .update({ replied_at: at, updated_at: tx.now });
  await recordEngagement(tx, subject, 'reply', source, { intent, ...(received ? { email_id: received.id } : {}) }, at);
}

/**
 * Ends the leads that a reply must end, and creates a question for a person if the opt-out is doubtful.
 * @returns true if a person must decide
 */
export async function followReply(
  tx: Tx,
  subject: Subject,
  reply: Omit<Reply, 'source' | 'confidence' | 'answer'>,
): Promise<boolean> {
  const { send, campaignId, enrollmentId } = subject;
  const { message: received, writer } = reply;
  const { reply_intent: settings, custom } = await effectiveSettings(tx.org, campaignId);
  if (reply.unsubscribeRequest && settings.enabled && settings.auto_suppress_on_unsubscribe_keyword) {
    await recordOptOutByMail(tx, subject, writer ?? { addresses: [], isRecipient: true }, received);
    return received !== null && writer?.isRecipient === false;
  }
  const isDoubtful = reply.unsubscribeRequest || reply.unsubscribeDoubtful === true;
  const isAsked = isDoubtful && received !== null;
  if (isAsked) await askAboutOptOut(tx, received, [subject.email, ...(writer?.addresses ?? [])]);
  if (!enrollmentId || !campaignId) return isAsked;
  await recordLateReply(tx, enrollmentId);
  if (isDoubtful) {
    await logCampaign(tx, campaignId, 'opt_out_doubtful', message('log.reply_may_opt_out'), {
      contact_id: subject.contactId,
      email_id: received?.id ?? null,
    });
    await finishEnrollment(tx, enrollmentId, 'replied', { reason: message('ended.may_opt_out') });
    return isAsked;
  }
  const [campaign] = await tx.org.sql<Columns<'campaigns', 'stop_on_reply'>>(
    'select stop_on_reply from campaigns where organization_id = :org and id = :id',
    { id: campaignId },
  );
  const everywhere = settings.enabled && stopsEverywhere(custom).some((intent) => intent === reply.intent);
  const stops =
    everywhere ||
    campaign?.stop_on_reply ||
    (settings.enabled && settings.auto_pause_on_negative && reply.intent === 'negative');
  if (!stops) return false;
  const others = everywhere && subject.contactId ? await findOpenLeads(tx, subject.contactId) : [];
  await finishEnrollments(tx, [...new Set([enrollmentId, ...others])], 'replied', {
    reason: message('ended.replied'),
    because: { cause: 'replied', messageId: received?.id ?? null, sendId: send?.id ?? null },
  });
  return false;
}

/** Marks a completed lead that replies later as `replied`, so that steps added later do not resume it. */
async function recordLateReply(tx: Tx, enrollmentId: string): Promise<void> {
  await tx.org
    .table('enrollments')
    .where({ id: enrollmentId, state: 'completed' })
    .update({ state: 'replied', failure_reason: json(message('ended.replied')), last_activity_at: tx.now });
}

/** Returns the contact's open enrollments. The caller must have locked them (`lockSubject`). */
async function findOpenLeads(tx: Tx, contactId: string): Promise<string[]> {
  const rows = await tx.org.sql<{ id: string }>(
    `select id from enrollments where organization_id = :org and contact_id = :contact and state in ('pending', 'active')`,
    { contact: contactId },
  );
  return rows.map(({ id }) => id);
}
