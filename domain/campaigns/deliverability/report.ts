import { json } from '../../../db/connection.ts';
import { badRequest, notFound } from '../../../lib/errors.ts';
import { newId } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { recordBounce, recordComplaint, recordUnsubscribe, type Bounce } from '../../sending/outcomes/effects.ts';
import { messageIdsIn } from '../../mail/inbound/fields.ts';
import { bounceTypeOf, classifyRefusal } from '../../mail/inbound/refusal.ts';
import { bestStatus, replyCode, stageIn } from '../../mail/inbound/smtp-words.ts';
import { matchSend } from '../../sending/outcomes/match.ts';
import { recordReply } from '../../sending/outcomes/reply.ts';
import { storableText } from '../../platform/storable-text.ts';
import { lockSubject, recordEngagement, subjectPayload, type Subject } from '../../sending/outcomes/subject.ts';
import { message } from '../../../messages/index.ts';
import { externalText } from '../../platform/external-text.ts';

/** Types of delivery signals that a client may report. */
export const REPORTED_TYPES = ['bounce', 'complaint', 'unsubscribe', 'open', 'click', 'reply'] as const;

/** A signal that the client received from a mail provider and reports to Heron. */
interface ReportedEvent {
  event_type: (typeof REPORTED_TYPES)[number];
  /** Address of the recipient, in lower case. */
  recipient_email: string;
  campaign_id?: string | undefined;
  /** Id of the email that the signal refers to. */
  task_id?: string | undefined;
  /** Message-ID of the email, as Heron set it or as a relay replaced it. */
  message_id?: string | undefined;
  contact_id?: string | undefined;
  provider?: string | undefined;
  reason?: string | undefined;
  idempotency_key?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
}

/**
 * Records a reported signal (POST /deliverability/events), with the effects that it has when Heron itself receives such
 * a signal. If the report names no known email (by task id or Message-ID), the signal is assigned to the latest email
 * to the recipient. If a campaign is given, only its emails are considered. Ids of a deleted campaign or contact are
 * ignored, but the effects on the address remain. A second report with the same idempotency key does nothing.
 * @throws AppError not_found for an email of another organization; bad_request when the ids contradict each other
 */
export async function reportEvent(ctx: Ctx, event: ReportedEvent): Promise<void> {
  await transact(ctx, async (tx) => {
    const subject = await findSubject(tx, event);
    const reason = storableText(event.reason ?? '', 500);
    const [stored] = await tx.org.sql(
      `insert into deliverability_events (id, organization_id, event_type, recipient_email, campaign_id, send_id, contact_id, provider, reason, idempotency_key, metadata, created_at)
       values (:id, :org, :type, :email, :campaign, :send, :contact, :provider, :reason, :key, cast(:metadata as jsonb), :now)
       on conflict (organization_id, idempotency_key) where idempotency_key is not null do nothing returning id`,
      {
        id: newId(),
        type: event.event_type,
        email: subject.email,
        campaign: subject.campaignId,
        send: subject.send?.id ?? null,
        contact: subject.contactId,
        provider: event.provider ?? '',
        reason,
        key: event.idempotency_key ?? null,
        metadata: json(event.metadata ?? {}),
        now: tx.now,
      },
    );
    if (stored) await apply(tx, subject, event, reason);
  });
}

async function apply(tx: Tx, subject: Subject, event: ReportedEvent, reason: string): Promise<void> {
  switch (event.event_type) {
    case 'bounce':
      return recordBounce(tx, subject, { ...judged(reason), source: 'reported' });
    case 'complaint':
      return recordComplaint(tx, subject, {
        reason: reason === '' ? message('complaint.reported') : externalText(reason),
        source: 'reported',
      });
    case 'unsubscribe':
      return recordUnsubscribe(tx, subject, 'reported');
    case 'reply':
      return recordReply(tx, subject, {
        intent: null,
        confidence: 0,
        unsubscribeRequest: false,
        source: 'reported',
        message: null,
      });
    case 'open':
    case 'click':
      return recordReportedEngagement(tx, subject, event.event_type);
  }
}

/**
 * Classifies a reported bounce by its reason, like an SMTP refusal. A bounce without a reason is classified as an
 * address that does not exist.
 */
function judged(reason: string): Omit<Bounce, 'source'> {
  if (reason === '') return { hard: true, reason: message('bounce.reported') };
  const refusal = classifyRefusal({
    status: bestStatus(null, reason),
    code: replyCode(reason),
    stage: stageIn(reason) ?? 'rcpt',
    words: reason,
  });
  return { hard: bounceTypeOf(refusal) === 'hard', reason: externalText(reason), fault: refusal.class };
}

async function recordReportedEngagement(tx: Tx, subject: Subject, type: 'open' | 'click'): Promise<void> {
  await recordEngagement(tx, subject, type, 'reported');
  if (!subject.send) return;
  const column = type === 'open' ? 'opened_at' : 'clicked_at';
  await tx.org
    .table('sends')
    .where({ id: subject.send.id })
    .whereNull(column)
    .update({ [column]: tx.now, updated_at: tx.now });
  if (!subject.campaignId) return;
  if (type === 'open')
    tx.emit('campaign.email_opened', {
      ...subjectPayload(subject),
      client: null,
      device_type: null,
      opened_at: tx.now.toISOString(),
    });
  else
    tx.emit('campaign.email_clicked', {
      ...subjectPayload(subject),
      client: null,
      device_type: null,
      url: null,
      link_label: null,
      clicked_at: tx.now.toISOString(),
    });
}

async function findSubject(tx: Tx, event: ReportedEvent): Promise<Subject> {
  const email = event.recipient_email;
  const campaignId = await known(tx, 'campaigns', event.campaign_id);
  const isCampaignGone = event.campaign_id !== undefined && campaignId === null;
  const subject = event.task_id
    ? await lockSubject(tx, event.task_id)
    : isCampaignGone
      ? undefined
      : ((await namedSend(tx, event.message_id)) ?? (await latestSendTo(tx, event)));
  if (event.task_id && !subject) throw notFound('email');
  if (subject) {
    if (subject.email !== email)
      throw badRequest(message('deliverability.other_recipient'), [
        { path: 'body.recipient_email', message: message('deliverability.other_recipient.problem') },
      ]);
    return subject;
  }
  const contactId =
    (await known(tx, 'contacts', event.contact_id)) ??
    (await tx.org.table('contacts').where({ email }).first('id'))?.id ??
    null;
  const enrollment =
    campaignId && contactId
      ? await tx.org
          .table('enrollments')
          .where({ campaign_id: campaignId, contact_id: contactId })
          .forUpdate()
          .first('id')
      : undefined;
  return { send: null, isDirect: false, campaignId, enrollmentId: enrollment?.id ?? null, contactId, email };
}

/** Returns a reported id if the organization has a record with this id. Otherwise returns null. */
async function known(tx: Tx, table: 'campaigns' | 'contacts', id: string | undefined): Promise<string | null> {
  return id !== undefined && (await tx.org.table(table).where({ id }).first('id')) ? id : null;
}

/**
 * Finds the email with a Message-ID. Also tries the Message-IDs of Amazon SES, in which the first AWS region is named
 * `email`.
 */
async function namedSend(tx: Tx, messageId = ''): Promise<Subject | undefined> {
  const ids = messageIdsIn(messageId.includes('<') ? messageId : `<${messageId}>`);
  const assigned = ids.map((id) => id.replace(/@us-east-1(?=\.amazonses\.com>$)/, '@email'));
  const send = await matchSend(tx.org, [...new Set([...ids, ...assigned])]);
  return send && lockSubject(tx, send.id);
}

/** Finds the latest sent email to a recipient, by the contact's id, which has an index. */
async function latestSendTo(tx: Tx, event: ReportedEvent): Promise<Subject | undefined> {
  const [row] = await tx.org.sql<{ id: string }>(
    `select s.id from contacts c join sends s on s.contact_id = c.id
     where c.organization_id = :org and c.email = :email and s.organization_id = :org and s.recipient = :email
       and (cast(:campaign as uuid) is null or s.campaign_id = :campaign)
       and s.state in ('sending', 'sent', 'uncertain', 'bounced')
     order by s.id desc limit 1`,
    { email: event.recipient_email, campaign: event.campaign_id ?? null },
  );
  return row ? lockSubject(tx, row.id) : undefined;
}
