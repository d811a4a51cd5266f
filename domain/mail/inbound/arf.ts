import { DateTime } from 'luxon';
import { returnedMessageId } from './delivery-report.ts';
import { addressesIn, fieldValue, messageIdsIn, parseFields } from './fields.ts';
import type { InboundMessage } from './parse.ts';

/** A feedback report of a mailbox provider (RFC 5965). */
interface FeedbackReport {
  /** Feedback-Type in lower case. Defaults to `abuse`. */
  readonly feedbackType: string;
  readonly userAgent: string | null;
  /** Lower-cased address that complained. Null if the provider redacts it. */
  readonly originalRecipient: string | null;
  readonly originalMessageId: string | null;
  /** Time (UTC) when the provider received the message. */
  readonly arrivalDate: Date | null;
}

/**
 * Feedback types that report a recipient's complaint. The other types (`not-spam`, `auth-failure`, `virus`) report no
 * complaint.
 */
const COMPLAINTS: ReadonlySet<string> = new Set(['abuse', 'fraud', 'opt-out', 'opt-out-list', 'complaint', 'other']);

/**
 * Reads the feedback report in a message. Returns null if the message contains none. Besides RFC 5965 it supports
 * Microsoft's junk mail reporting program, which forwards our message from its staff address with the subject
 * "complaint about message from …".
 */
export function parseFeedbackReport(message: InboundMessage): FeedbackReport | null {
  if (isJunkReport(message)) {
    return {
      feedbackType: 'abuse',
      userAgent: null,
      originalRecipient: complainant(message, null),
      originalMessageId: returnedMessageId(message),
      arrivalDate: null,
    };
  }
  if (message.contentType !== 'multipart/report') return null;
  const part = message.reports.find(({ contentType }) => contentType === 'message/feedback-report');
  if (!part) return null;
  const fields = parseFields(part.body);
  const arrival = fieldValue(fields, 'arrival-date') ?? fieldValue(fields, 'received-date');
  const arrived = arrival === null ? null : DateTime.fromRFC2822(arrival.slice(0, 200));
  return {
    feedbackType: (fieldValue(fields, 'feedback-type') ?? 'abuse').toLowerCase().slice(0, 50),
    userAgent: fieldValue(fields, 'user-agent')?.slice(0, 200) ?? null,
    originalRecipient: complainant(message, fieldValue(fields, 'original-rcpt-to')),
    originalMessageId: returnedMessageId(message) ?? messageIdsIn(fieldValue(fields, 'original-message-id'))[0] ?? null,
    arrivalDate: arrived?.isValid ? arrived.toJSDate() : null,
  };
}

/** Returns true if the report is a complaint of the recipient about our message. */
export function isComplaint(report: FeedbackReport): boolean {
  return COMPLAINTS.has(report.feedbackType);
}

function isJunkReport(message: InboundMessage): boolean {
  if (!/^staff@(?:hotmail|outlook|live)\.com$/.test(message.from ?? '')) return false;
  return /^complaint about message from/i.test(message.subject) && message.reports.length > 0;
}

function complainant(message: InboundMessage, stated: string | null): string | null {
  const fromReport = addressesIn(stated ?? '', 1)[0];
  if (fromReport !== undefined) return fromReport;
  const returned = message.reports.find(({ contentType }) => /rfc822/.test(contentType));
  if (!returned) return null;
  const fields = parseFields(returned.body);
  const value = fieldValue(fields, 'x-hmxmroriginalrecipient') ?? fieldValue(fields, 'to');
  return addressesIn((value ?? '').slice(0, 1000), 1)[0] ?? null;
}
