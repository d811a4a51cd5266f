import { isComplaint, parseFeedbackReport } from './arf.ts';
import { readAnswer, type Answer, type ReadingBias } from '../reading/read-reply.ts';
import { returnDate } from '../reading/when.ts';
import { detectAutomatic } from './autoreply.ts';
import type { AutomaticReason } from './autoreply.ts';
import { fromMailSystem, returnedRecipients } from './delivery-report.ts';
import type { DsnRecipient } from './delivery-report.ts';
import { parseDsn } from './dsn.ts';
import { isUnsubscribeSubject, mentionsOutOfOffice, replyIntent } from './intent.ts';
import type { ReplyIntent, ReplyIntentSettings } from './intent.ts';
import type { InboundMessage } from './parse.ts';
import { ownWords } from './own-words.ts';
import type { BounceType } from './refusal.ts';
import { parseProviderNotice } from './provider-notice.ts';

interface Threaded {
  /**
   * Message-IDs that may name the message of ours this one is about, best first: the returned message's, then
   * In-Reply-To, then References from the newest.
   */
  readonly threadIds: readonly string[];
}

export interface BounceClassification extends Threaded {
  readonly kind: 'bounce';
  /** Hard when any recipient is. */
  readonly bounceType: BounceType;
  /** The failed ones only. */
  readonly recipients: readonly DsnRecipient[];
  /** To whom the returned message was addressed; empty when the report returns none of it. */
  readonly returnedTo: readonly string[];
  /** True where a mail system or a provider's notification service wrote the report. */
  readonly fromSystem: boolean;
  readonly source: 'rfc3464' | 'text';
}

interface ComplaintClassification extends Threaded {
  readonly kind: 'complaint';
  readonly feedbackType: string;
  readonly recipient: string | null;
  readonly userAgent: string | null;
  /** UTC. */
  readonly arrivalDate: Date | null;
}

interface OutOfOfficeClassification extends Threaded {
  readonly kind: 'out_of_office';
  readonly intent: ReplyIntent | null;
  /** Start of the day of return; null when the message doesn't say. */
  readonly returnDate: Date | null;
  /** The note as the trained model reads it, with who stands in. */
  readonly answer: Answer;
}

interface AutomatedClassification extends Threaded {
  readonly kind: 'automated';
  readonly reason: AutomaticReason | 'delivery_delayed' | 'delivery_report' | 'feedback_report';
  readonly intent: ReplyIntent | null;
  /** Set for the mail a mail program sends to a List-Unsubscribe address, and where the words ask to be left out. */
  readonly unsubscribeRequest: boolean;
  /** Whom a delivery report says the message was delivered to; empty for anything else. */
  readonly delivered: readonly DsnRecipient[];
}

interface ReplyClassification extends Threaded {
  readonly kind: 'reply';
  /** Null when the workspace has switched reply intent off. */
  readonly intent: ReplyIntent | null;
  /** 0 to 1; 0 without an intent. */
  readonly confidence: number;
  /** A fact of the message; whether it suppresses is for auto_suppress_on_unsubscribe_keyword to say. */
  readonly unsubscribeRequest: boolean;
  /** Words of opting out that may mean something else; a person has to read them. */
  readonly unsubscribeDoubtful: boolean;
  /** What the person wrote, without quotes and signature. */
  readonly ownWords: string;
  /** Their words as the trained model reads them: a finer kind than the intent, and its details. */
  readonly answer: Answer;
}

/** Our side of a conversation. */
interface SentToThem {
  /** Bodies, with footers and signatures. */
  readonly texts: readonly string[];
  readonly subjects: readonly string[];
}

const NOTHING_SENT: SentToThem = { texts: [], subjects: [] };

/** What an incoming message is; `kind` discriminates. Only `reply` is a human reply. */
export type InboundClassification =
  | BounceClassification
  | ComplaintClassification
  | OutOfOfficeClassification
  | AutomatedClassification
  | ReplyClassification;

/**
 * Classifies an incoming message: a bounce, a complaint, an away message, other automatic mail, or what a person
 * wrote. Pure; never throws.
 *
 * A report is only as trustworthy as its sender, and anyone may write one: act on it only when one of
 * `threadIds` names a send of ours and the reported recipient is the one it went to.
 *
 * @param settings the workspace's (or campaign's) reply_intent block
 * @param receivedAt when the message arrived, UTC
 * @param timezone IANA name of the recipient's zone, for return dates; UTC when absent
 * @param sent what we sent to this person: what repeats it is none of the person's own words
 * @param bias what corrections of the workspace have taught
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
  const words = ownWords(message, sent.texts);
  return (
    classifyAutomatic(message, words, { settings, receivedAt, timezone, subjects: sent.subjects }) ??
    classifyReply(message, words, settings, readAnswer(words, receivedAt, { timezone, bias }))
  );
}

/** A report about a recipient who complained, in its standard form (ARF). */
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

/** What became of an email, in its standard form (DSN) or in a provider's own; a provider's own complaint too. */
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
 * An away message, or other mail that no person wrote. Words that ask to be left out count also there: service desks pass
 * on what people write, and who has left a company says so in the automatic reply.
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

/** What a person wrote. */
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
