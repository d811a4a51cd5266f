import type { Columns } from '../../../db/rows.ts';
import { addressKey } from '../../../lib/address.ts';
import type { ReplyCause } from '../../../workflows/enrollment/contract.ts';
import { finishEnrollments, type FinalState } from '../control/finish.ts';
import { warnMailbox } from '../control/mailbox-hold.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import type { RefusalClass } from '../../mail/inbound/refusal.ts';
import { effectiveSettings } from '../campaign/outreach-settings.ts';
import { settleDirectSend } from '../control/direct-sends.ts';
import { isTestEmail } from '../control/test-runs.ts';
import { suppress } from './suppress.ts';
import { storableText } from '../../platform/storable-text.ts';
import { lockSubject, recordEngagement, subjectPayload, type Subject } from './subject.ts';
import { message, type Message } from '../../../messages/index.ts';
import { announcedReason } from '../../platform/coded-reason.ts';

/**
 * A refusal of an email: by the server at once (`smtp`), by a report in a mailbox (`dsn`) or by a client of the API
 * (`reported`).
 */
export interface Bounce {
  /** True when the address does not exist or can never receive mail. False for a soft (temporary) bounce. */
  hard: boolean;
  /** Text of the server's or client's report, or the reason why the email is treated as bounced. */
  reason: Message;
  source: 'smtp' | 'dsn' | 'reported';
  /** Cause of the refusal. Absent when unknown. */
  fault?: RefusalClass | undefined;
}

/** A spam complaint of a recipient, from a feedback report (`arf`) or a client of the API (`reported`). */
interface Complaint {
  reason: Message;
  source: 'arf' | 'reported';
}

/** Source of an opt-out (`campaign.unsubscribed`): mail header, page, reply or campaign step. */
type UnsubscribeSource = 'one_click' | 'link' | 'reply' | 'action';

/**
 * The person who opts out, with the ids that the caller knows. With `sendId`, the other ids are read from the email.
 */
interface OptOut {
  sendId?: string | null;
  campaignId?: string | null;
  enrollmentId?: string | null;
  contactId?: string | null;
  email: string;
}

/**
 * Records a bounce, according to `bounce_pipeline`. A hard bounce ends the contact's campaign and, depending on the
 * settings, suppresses the address. A soft bounce is only recorded, unless the email is already in state bounced. A
 * refusal because of content or sender is shown with the mailbox. A second report about the same email changes nothing.
 * A subscriber of these events pauses campaigns with too many bounces.
 */
export async function recordSendBounce(tx: Tx, send: { id: string }, bounce: Bounce): Promise<void> {
  const subject = await lockSubject(tx, send.id);
  if (subject) await recordBounce(tx, subject, bounce);
}

/** Variant of {@link recordSendBounce} for a recipient whose email may be unknown. */
export async function recordBounce(tx: Tx, subject: Subject, bounce: Bounce): Promise<void> {
  const { send } = subject;
  const kind: 'hard' | 'soft' = bounce.hard ? 'hard' : 'soft';
  if (send && (await isRecorded(tx, send.id, bounce.hard ? 'hard bounce' : 'bounce'))) return;
  const { reason, source } = bounce;
  await recordEngagement(tx, subject, 'bounce', source, { bounce_type: kind, reason });
  const payload = { ...subjectPayload(subject), bounce_type: kind, ...announcedReason(reason), source };
  tx.emit('deliverability.bounce', payload);
  if (send?.mailbox_id && (bounce.fault === 'content' || bounce.fault === 'sender')) {
    const code = bounce.fault === 'content' ? 'content_refused' : 'refused_by_receiver';
    await warnMailbox(tx, send.mailbox_id, code, reason);
  }
  if (!bounce.hard && send?.state !== 'bounced') return;

  if (send) {
    await tx.org.sql(
      // A report can arrive before the server's response to DATA. In that case the attempt that has claimed the email
      // sets its state.
      `update sends set state = case when state in ('sent', 'uncertain') then 'bounced' else state end,
         bounced_at = coalesce(bounced_at, :now), updated_at = :now
       where organization_id = :org and id = :id`,
      { id: send.id, now: tx.now },
    );
    if (subject.isDirect) {
      // A refusal by the server during the SMTP session has already set the email's state.
      const settlement = { state: 'bounced', code: 'bounced', reason } as const;
      await settleDirectSend(tx, send.id, settlement, ['sent', 'uncertain']);
    } else tx.emit('campaign.email_bounced', payload);
  }
  const { bounce_pipeline: pipeline } = await effectiveSettings(tx.org, subject.campaignId);
  const suppressed = bounce.hard && pipeline.enabled && pipeline.auto_suppress_on_bounce;
  if (suppressed) {
    await suppress(tx, {
      email: subject.email,
      reason,
      source: 'bounce',
      campaignId: subject.campaignId,
      metadata: { send_id: send?.id ?? null },
    });
  }
  await end(tx, subject, 'bounced', {
    everywhere: suppressed,
    byRun: source === 'smtp',
    cause: 'bounced',
    reason: message('ended.bounced'),
  });
}

/** Records the bounce of one recipient of a direct send that reached the other recipients. */
export async function recordCopyBounce(tx: Tx, bounce: Bounce & { address: string }): Promise<void> {
  const { address, ...rest } = bounce;
  const [contact] = await tx.org.sql<Columns<'contacts', 'id'>>(
    'select id from contacts where organization_id = :org and email = :email',
    { email: address },
  );
  await recordBounce(
    tx,
    {
      send: null,
      isDirect: true,
      campaignId: null,
      enrollmentId: null,
      contactId: contact?.id ?? null,
      email: address,
    },
    rest,
  );
}

/**
 * Records a spam complaint: the contact leaves the campaign and, depending on `bounce_pipeline`, is suppressed. A
 * second report about the same email changes nothing. A subscriber of these events pauses campaigns with too many
 * complaints.
 */
export async function recordComplaint(tx: Tx, subject: Subject, complaint: Complaint): Promise<void> {
  const { send } = subject;
  if (send && (await isRecorded(tx, send.id, 'complaint'))) return;
  const { reason, source } = complaint;
  await recordEngagement(tx, subject, 'complaint', source, { reason });
  tx.emit('deliverability.complaint', { ...subjectPayload(subject), ...announcedReason(reason), source });
  if (send) await tx.org.table('sends').where({ id: send.id }).update({ complained_at: tx.now, updated_at: tx.now });
  const { bounce_pipeline: pipeline } = await effectiveSettings(tx.org, subject.campaignId);
  const suppressed = pipeline.enabled && pipeline.auto_suppress_on_complaint;
  if (suppressed) {
    await suppress(tx, {
      email: subject.email,
      reason,
      source: 'complaint',
      campaignId: subject.campaignId,
      metadata: { send_id: send?.id ?? null },
    });
  }
  await end(tx, subject, 'unsubscribed', {
    everywhere: suppressed,
    byRun: false,
    cause: 'complained',
    reason: message('ended.complained'),
  });
}

/**
 * Records an opt-out: the contact is unsubscribed in the whole workspace and leaves every campaign. The address is
 * suppressed if `auto_suppress_on_unsubscribe` is on, and always after an opt-out by reply. A repeated opt-out changes
 * nothing, unless the contact was subscribed again in between. An opt-out from a test run's email changes nothing.
 */
export async function recordSendUnsubscribe(tx: Tx, who: OptOut, source: UnsubscribeSource): Promise<void> {
  if (who.sendId && (await isTestEmail(tx.org, who.sendId))) return;
  const subject = (who.sendId ? await lockSubject(tx, who.sendId) : undefined) ?? {
    send: null,
    isDirect: false,
    campaignId: who.campaignId ?? null,
    enrollmentId: who.enrollmentId ?? null,
    contactId: who.contactId ?? null,
    email: addressKey(who.email),
  };
  await recordUnsubscribe(tx, subject, source);
}

/**
 * Variant of {@link recordSendUnsubscribe} for a locked subject. An opt-out by reply always suppresses, regardless of
 * the settings. `reported` is an opt-out reported by a client of the API.
 * @param messageId id of the stored opt-out message, so that a correction can find its effects
 */
export async function recordUnsubscribe(
  tx: Tx,
  subject: Subject,
  source: UnsubscribeSource | 'reported',
  messageId?: string,
): Promise<void> {
  const { send } = subject;
  const [contact] = await tx.org.sql<Columns<'contacts', 'id' | 'subscribed'>>(
    'select id, subscribed from contacts where organization_id = :org and (id = :id or email = :email) order by id = :id desc limit 1 for no key update',
    { id: subject.contactId, email: subject.email },
  );
  const known = { ...subject, contactId: subject.contactId ?? contact?.id ?? null };
  const { bounce_pipeline: pipeline } = await effectiveSettings(tx.org, subject.campaignId);
  if (source === 'reply' || (pipeline.enabled && pipeline.auto_suppress_on_unsubscribe)) {
    await suppress(tx, {
      email: subject.email,
      reason: message(`suppressed.${source}`),
      source: 'unsubscribe',
      campaignId: subject.campaignId,
      metadata: {
        send_id: send?.id ?? null,
        ...(messageId ? { email_id: messageId, was_subscribed: contact?.subscribed ?? false } : {}),
      },
    });
  }
  if (contact)
    await tx.org
      .table('contacts')
      .where({ id: contact.id })
      // If a suppression entry unsubscribed the contact, the opt-out replaces it as the cause.
      .where((query) => void query.whereNotNull('unsubscribed_by').orWhere('subscribed', true))
      .update({ subscribed: false, unsubscribed_by: null, updated_at: tx.now });
  await end(tx, known, 'unsubscribed', {
    everywhere: true,
    byRun: source === 'action',
    cause: 'unsubscribed',
    reason: message('ended.opted_out'),
  });
  const isRepeat = send ? send.unsubscribed_at !== null && contact?.subscribed !== true : contact?.subscribed === false;
  if (isRepeat) return;
  if (send) await tx.org.table('sends').where({ id: send.id }).update({ unsubscribed_at: tx.now, updated_at: tx.now });
  await recordEngagement(tx, known, 'unsubscribe', source, messageId ? { email_id: messageId } : {});
  tx.emit('campaign.unsubscribed', { ...subjectPayload(known), source: source === 'reported' ? 'action' : source });
}

/** Emits `campaign.email_delivered` when a delivery report (DSN) of the receiving server confirms the delivery. */
export function emitDelivered(tx: Tx, subject: Subject, reportedBy: string | null): void {
  if (!subject.campaignId) return;
  tx.emit('campaign.email_delivered', {
    ...subjectPayload(subject),
    reported_by: reportedBy && storableText(reportedBy, 255),
    delivered_at: tx.now.toISOString(),
  });
}

async function isRecorded(tx: Tx, sendId: string, what: 'bounce' | 'hard bounce' | 'complaint'): Promise<boolean> {
  const [row] = await tx.org.sql(
    `select 1 from engagement_events where organization_id = :org and send_id = :id and type = :type
       and (not :hardOnly or detail ->> 'bounce_type' = 'hard') limit 1`,
    { id: sendId, type: what === 'complaint' ? what : 'bounce', hardOnly: what === 'hard bounce' },
  );
  return row !== undefined;
}

interface Ending {
  /** True to end all campaigns of the contact, false to end only this one. */
  everywhere: boolean;
  /** True if the contact's own workflow is the caller and needs no signal. */
  byRun: boolean;
  cause: ReplyCause;
  reason: Message;
}

/**
 * Ends the contact's enrollment in this campaign or in all. Locks enrollments in a fixed order, so that writers cannot
 * deadlock.
 */
async function end(
  tx: Tx,
  subject: Subject,
  state: FinalState,
  { everywhere, byRun, cause, reason }: Ending,
): Promise<void> {
  const others =
    everywhere && subject.contactId
      ? await tx.org.sql<{ id: string }>(
          `select id from enrollments where organization_id = :org and contact_id = :contact and state in ('pending', 'active')`,
          { contact: subject.contactId },
        )
      : [];
  const ids = new Set([...(subject.enrollmentId ? [subject.enrollmentId] : []), ...others.map(({ id }) => id)]);
  await finishEnrollments(tx, [...ids], state, {
    reason,
    runOf: byRun ? subject.enrollmentId : null,
    because: { cause, messageId: null, sendId: subject.send?.id ?? null },
  });
}
