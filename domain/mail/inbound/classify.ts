import { isComplaint, parseFeedbackReport } from './arf.ts';
import { readAnswer, type Answer, type ReadingBias } from '../reading/read-reply.ts';
import { returnDate } from '../reading/when.ts';
import { detectAutomatic } from './autoreply.ts';
import type { AutomaticReason } from './autoreply.ts';
import { fromMailSystem, returnedRecipients } from './delivery-report.ts';
import type { DsnRecipient } from './delivery-report.ts';
import { parseDsn } from './dsn.ts';
import { fold } from './fold.ts';
import { isUnsubscribeSubject, mentionsOutOfOffice, replyIntent } from './intent.ts';
import type { ReplyIntent, ReplyIntentSettings } from './intent.ts';
import type { InboundMessage } from './parse.ts';
import { replyText } from './reply-text.ts';
import type { BounceType } from './refusal.ts';
import { parseProviderNotice } from './provider-notice.ts';
import { ANSWERS, withoutOwnSubject } from './subjects.ts';

interface Threaded {
  /**
   * Message-IDs that may identify the sent message to which this message refers, likeliest first. Order: the id of the
   * returned message, then In-Reply-To, then References from the newest.
   */
  readonly threadIds: readonly string[];
}

export interface BounceClassification extends Threaded {
  readonly kind: 'bounce';
  /** `hard` if the bounce of any recipient is hard. */
  readonly bounceType: BounceType;
  /** Recipients whose delivery failed. */
  readonly recipients: readonly DsnRecipient[];
  /** Addressees of the returned message. Empty if the report does not contain it. */
  readonly returnedTo: readonly string[];
  /** True if a mail system or a provider's notification service wrote the report. */
  readonly fromSystem: boolean;
  readonly source: 'rfc3464' | 'text';
}

interface ComplaintClassification extends Threaded {
  readonly kind: 'complaint';
  readonly feedbackType: string;
  readonly recipient: string | null;
  readonly userAgent: string | null;
  /** Time (UTC) when the provider received the reported message. */
  readonly arrivalDate: Date | null;
}

interface OutOfOfficeClassification extends Threaded {
  readonly kind: 'out_of_office';
  readonly intent: ReplyIntent | null;
  /** Start of the day of return. Null if the message names no day. */
  readonly returnDate: Date | null;
  /** Result of the trained model for the away message, with the stand-in that it names. */
  readonly answer: Answer;
}

interface AutomatedClassification extends Threaded {
  readonly kind: 'automated';
  readonly reason: AutomaticReason | 'delivery_delayed' | 'delivery_report' | 'feedback_report';
  readonly intent: ReplyIntent | null;
  /**
   * True for an email that a mail program sends to the List-Unsubscribe address, and for text that requests an opt-out.
   */
  readonly unsubscribeRequest: boolean;
  /** Recipients to whom the message was delivered, according to a delivery report. Empty for other messages. */
  readonly delivered: readonly DsnRecipient[];
}

interface ReplyClassification extends Threaded {
  readonly kind: 'reply';
  /** Intent of the reply; null if the workspace has disabled reply intent. */
  readonly intent: ReplyIntent | null;
  /** Confidence from 0 to 1. It is 0 without an intent. */
  readonly confidence: number;
  /**
   * True if the message is an opt-out. The setting auto_suppress_on_unsubscribe_keyword determines if the sender is
   * suppressed.
   */
  readonly unsubscribeRequest: boolean;
  /** True for an unclear request to unsubscribe, which a person must read. */
  readonly unsubscribeDoubtful: boolean;
  /** Text written by the person, without quotes and signature. */
  readonly ownWords: string;
  /** Result of the trained model: a finer kind than the intent, and its details. */
  readonly answer: Answer;
}

/** Subjects and texts of the emails that we sent in the conversation. */
interface SentToThem {
  /** Bodies of our emails, with footers and signatures. */
  readonly texts: readonly string[];
  readonly subjects: readonly string[];
}

const NOTHING_SENT: SentToThem = { texts: [], subjects: [] };

/** Classification of an incoming message, discriminated by `kind`. Only `reply` is a human reply. */
export type InboundClassification =
  | BounceClassification
  | ComplaintClassification
  | OutOfOfficeClassification
  | AutomatedClassification
  | ReplyClassification;

/**
 * Classifies an incoming message as bounce, complaint, away message, other automatic mail, or a person's reply. Pure;
 * never throws. Anyone may forge a report. Use the result only if one of `threadIds` names an email of ours and the
 * reported recipient is that email's recipient.
 * @param settings the reply_intent block of the workspace or campaign
 * @param receivedAt time of arrival, UTC
 * @param timezone IANA time zone of the recipient, for return dates; defaults to UTC
 * @param sent emails sent to this person; text that repeats them is not treated as the person's own
 * @param bias shift of the model's result by the workspace's corrections
 */
export function classifyInbound(
  message: InboundMessage,
  settings: ReplyIntentSettings,
  receivedAt: Date,
  timezone?: string,
  sent: SentToThem = NOTHING_SENT,
  bias?: ReadingBias,
): InboundClassification {
  const report = classifyFeedback(message, settings) ?? classifyDelivery(message, settings);
  if (report) return report;
  const words = replyText(message, sent.texts) || subjectWords(message, sent.subjects);
  return (
    classifyAutomatic(message, words, { settings, receivedAt, timezone, subjects: sent.subjects }) ??
    classifyReply(message, words, settings, readAnswer(words, receivedAt, { timezone, bias }))
  );
}

/** Returns the subject of a message without text, if it is neither an answer's nor ours. */
function subjectWords({ subject, text, html }: InboundMessage, subjects: readonly string[]): string {
  const isOurs = ANSWERS.test(fold(subject)) || withoutOwnSubject(subject, subjects) !== fold(subject).trim();
  return text.trim() === '' && html === null && !isOurs ? subject : '';
}

/** Classifies a complaint report in its standard form (ARF). */
function classifyFeedback(
  message: InboundMessage,
  settings: ReplyIntentSettings,
): ComplaintClassification | AutomatedClassification | undefined {
  const feedback = parseFeedbackReport(message);
  if (!feedback) return undefined;
  const threadIds = threadIdsOf(message, feedback.originalMessageId);
  if (!isComplaint(feedback)) return automated(message, settings, { reason: 'feedback_report', threadIds });
  const { feedbackType, originalRecipient, userAgent, arrivalDate } = feedback;
  return { kind: 'complaint', feedbackType, recipient: originalRecipient, userAgent, arrivalDate, threadIds };
}

/**
 * Classifies a delivery report in its standard form (DSN), or a provider's bounce, complaint or delivery notice in the
 * provider's own form.
 */
function classifyDelivery(
  message: InboundMessage,
  settings: ReplyIntentSettings,
): ComplaintClassification | BounceClassification | AutomatedClassification | undefined {
  const notice = parseProviderNotice(message);
  if (notice?.kind === 'complaint') {
    const { feedbackType, recipient } = notice;
    const threadIds = threadIdsOf(message, ...notice.messageIds);
    return { kind: 'complaint', feedbackType, recipient, userAgent: null, arrivalDate: null, threadIds };
  }
  const report = notice?.report ?? parseDsn(message);
  if (!report) return undefined;
  const threadIds = threadIdsOf(message, ...(notice?.messageIds ?? [report.originalMessageId]));
  const failed = report.recipients.filter(({ action }) => action === 'failed');
  if (failed.length > 0) {
    const bounceType = failed.some((recipient) => recipient.bounceType === 'hard') ? 'hard' : 'soft';
    const fromSystem = notice !== null || fromMailSystem(message);
    const returnedTo = returnedRecipients(message);
    return { kind: 'bounce', bounceType, recipients: failed, returnedTo, fromSystem, source: report.source, threadIds };
  }
  const isDelayed = report.recipients.some(({ action }) => action === 'delayed');
  const delivered = report.source === 'rfc3464' ? report.recipients.filter(({ action }) => action === 'delivered') : [];
  return automated(message, settings, {
    reason: isDelayed ? 'delivery_delayed' : 'delivery_report',
    threadIds,
    delivered,
  });
}

/**
 * Classifies automatic mail. Also detects unsubscribe requests: service desks forward customers' words, and automatic
 * replies of people who have left a company may ask to stop.
 */
function classifyAutomatic(
  message: InboundMessage,
  words: string,
  {
    settings,
    receivedAt,
    timezone,
    subjects,
  }: {
    settings: ReplyIntentSettings;
    receivedAt: Date;
    timezone: string | undefined;
    subjects: readonly string[];
  },
): OutOfOfficeClassification | AutomatedClassification | undefined {
  const automatic = detectAutomatic(message, receivedAt, subjects);
  if (!automatic) return undefined;
  const threadIds = threadIdsOf(message);
  const { reason, outOfOffice } = automatic;
  const hasWriter = reason !== 'read_receipt' && message.contentType !== 'multipart/report';
  const unsubscribeRequest = hasWriter && replyIntent(words, '', settings).unsubscribeRequest;
  if (outOfOffice && !unsubscribeRequest) {
    const answer = readAnswer(words, receivedAt, { timezone, known: 'out_of_office' });
    const returns = returnDate(`${message.subject}.\n\n${words}`, receivedAt, timezone);
    return {
      kind: 'out_of_office',
      intent: recorded(settings, 'out_of_office'),
      returnDate: returns,
      answer,
      threadIds,
    };
  }
  const intent = hasWriter && mentionsOutOfOffice(words, settings) ? 'out_of_office' : 'automated';
  return automated(message, settings, { reason, intent, threadIds, unsubscribeRequest });
}

/** Classifies a message written by a person, and determines its intent. */
function classifyReply(
  message: InboundMessage,
  words: string,
  settings: ReplyIntentSettings,
  answer: Answer,
): ReplyClassification {
  const verdict = replyIntent(words, message.subject, settings, answer);
  return {
    kind: 'reply',
    intent: recorded(settings, verdict.intent),
    confidence: settings.enabled === false ? 0 : verdict.confidence,
    unsubscribeRequest: verdict.unsubscribeRequest,
    unsubscribeDoubtful: verdict.unsubscribeDoubtful,
    ownWords: words,
    answer,
    threadIds: threadIdsOf(message),
  };
}

function automated(
  message: InboundMessage,
  settings: ReplyIntentSettings,
  {
    intent = 'automated',
    ...found
  }: Pick<AutomatedClassification, 'reason' | 'threadIds'> & {
    intent?: ReplyIntent;
    delivered?: readonly DsnRecipient[];
    unsubscribeRequest?: boolean;
  },
): AutomatedClassification {
  return {
    kind: 'automated',
    delivered: [],
    ...found,
    intent: recorded(settings, intent),
    unsubscribeRequest: found.unsubscribeRequest === true || isUnsubscribeSubject(message.subject),
  };
}

function recorded(settings: ReplyIntentSettings, intent: ReplyIntent): ReplyIntent | null {
  return settings.enabled === false ? null : intent;
}

function threadIdsOf(message: InboundMessage, ...originals: readonly (string | null)[]): string[] {
  const ids = [...originals, message.inReplyTo, ...message.references.toReversed()];
  return [...new Set(ids.flatMap((id) => id ?? []))];
}
