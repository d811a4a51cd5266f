import { readReply, type AnswerKind, type ReadReply } from '../reading/read-reply.ts';
import { fold } from './fold.ts';

/** Possible meanings of a reply, as the API names them. */
export type ReplyIntent = 'positive' | 'negative' | 'question' | 'neutral' | 'out_of_office' | 'automated';

/**
 * Kinds of replies, each with its intent. Several kinds can have one intent. The order is that of their shortcut keys
 * in the inbox.
 */
export const INTENT_OF_KIND = {
  positive: 'positive',
  negative: 'negative',
  // "Not now" is a refusal of this email.
  not_now: 'negative',
  question: 'question',
  referral: 'neutral',
  opt_out: 'negative',
  out_of_office: 'out_of_office',
  automated: 'automated',
  neutral: 'neutral',
} as const satisfies Record<string, ReplyIntent>;

export type ReplyKind = keyof typeof INTENT_OF_KIND;
export const REPLY_KINDS = Object.keys(INTENT_OF_KIND) as [ReplyKind, ...ReplyKind[]];

/** Part of the `reply_intent` settings that determines an intent. */
export interface ReplyIntentSettings {
  readonly enabled?: boolean | undefined;
  readonly positive_keywords?: readonly string[] | undefined;
  readonly negative_keywords?: readonly string[] | undefined;
  readonly out_of_office_keywords?: readonly string[] | undefined;
  readonly question_keywords?: readonly string[] | undefined;
}

interface IntentVerdict {
  readonly intent: ReplyIntent;
  /** Probability of the intent, 0 to 1. */
  readonly confidence: number;
  readonly unsubscribeRequest: boolean;
  /** True for a possible request to unsubscribe that a person must check. */
  readonly unsubscribeDoubtful: boolean;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Probability of an opt-out above which the opt-out is applied at once (`SURE`), and above which a person must decide
 * (`DOUBT`).
 */
export const SURE = 0.82;
export const DOUBT = 0.12;
/** Probability of an opt-out above which a question is treated as an opt-out, if no other sentence shows interest. */
const SURE_OF_QUESTION = 0.92;
const INTEREST = 0.7;
const MOST_SENTENCES = 6;
/** Minimum confidence for classifying a reply as automatic without machine headers or other signs. */
const SURELY_AUTOMATIC = 0.6;
/** Minimum confidence for classifying a reply as an away message without machine headers or other signs. */
const SURELY_AWAY = 0.5;
/** Confidence below which the intent is `neutral`. */
const PLAIN = 0.4;
/**
 * Confidence below which the intent is `neutral` for an opt-out that is not applied at once, because a person must
 * still decide.
 */
const PLAIN_OPT_OUT = 0.6;
const MAX_READ = 16 * 1024;
/** Matches a letter or digit of a script with spaces between words, so not of Chinese and Japanese. */
const WORD = /(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}]/u;
/**
 * Whole replies that request an opt-out with the words that subscribers of mailing lists use. Matched against folded
 * text (fold.ts).
 */
const UNSUBSCRIBE_REPLIES: ReadonlySet<string> = new Set([
  'stop',
  'stopp',
  'remove',
  'unsubscribe',
  'baja',
  'cancel',
  'quit',
  'no more',
]);
const COURTESIES = /(?:^| )(?:please|pls|thanks|thank you|bitte|danke|merci)(?= |$)/g;

/**
 * Classifies a reply by the trained model (`domain/mail/reading`), based on the reply's own words (see `replyText`).
 *
 * Keywords of the workspace take precedence over the model. They match whole words, ignoring case and diacritics. If
 * more positive than negative keywords match, the reply is positive. A tie is negative, because mistaking a refusal for
 * interest is the worse error. An opt-out request is always negative.
 * @param read the model's result for the words, if the caller already has it
 */
export function replyIntent(
  words: string,
  subject: string,
  settings: ReplyIntentSettings = {},
  read: ReadReply = readReply(words),
): IntentVerdict {
  const text = fold(words.slice(0, MAX_READ)).replaceAll('\n', ' ').trim();
  const isRule = isUnsubscribeSubject(subject) || isUnsubscribeReply(text);
  if (isRule) return { intent: 'negative', confidence: 1, unsubscribeRequest: true, unsubscribeDoubtful: false };
  if (text === '') return { intent: 'neutral', confidence: 1, unsubscribeRequest: false, unsubscribeDoubtful: false };
  const unsubscribeRequest = isRequest(words, read);
  return {
    ...((unsubscribeRequest ? null : byKeywords(text, settings)) ??
      modelIntent(read, isQuestion(words) && !unsubscribeRequest)),
    unsubscribeRequest,
    unsubscribeDoubtful: !unsubscribeRequest && read.optOut >= DOUBT,
  };
}

/** Returns the API's name for a kind of the model. */
export function toReplyKind(kind: AnswerKind): ReplyKind {
  return kind === 'automatic' ? 'automated' : kind;
}

/**
 * Returns true if an automatic message announces an absence, by the workspace's out_of_office_keywords or by the model.
 */
export function mentionsOutOfOffice(words: string, settings: ReplyIntentSettings = {}): boolean {
  const text = fold(words.slice(0, MAX_READ)).replaceAll('\n', ' ');
  return find(text, settings.out_of_office_keywords ?? []).length > 0 || readReply(words).kind === 'out_of_office';
}

/**
 * Returns true if the subject is the single word that mail programs send to a List-Unsubscribe address (RFC 2369).
 */
export function isUnsubscribeSubject(subject: string): boolean {
  return fold(subject).trim() === 'unsubscribe';
}

function isUnsubscribeReply(text: string): boolean {
  const whole = text.replace(/[^\p{L}\p{N}' -]+/gu, ' ').trim();
  return UNSUBSCRIBE_REPLIES.has(whole.replace(COURTESIES, ' ').trim());
}

/** Returns true if the model is certain enough to apply the opt-out at once. */
function isRequest(words: string, { kind, optOut }: ReadReply): boolean {
  if (kind !== 'opt_out') return false;
  if (!isQuestion(words)) return optOut >= SURE;
  const sentences = words.split(/(?<=[.!?])\s+/u).slice(0, MOST_SENTENCES);
  const isInterested = sentences
    .map((one) => readReply(one))
    .some((one) => one.kind === 'positive' && one.confidence >= INTEREST);
  return optOut >= SURE_OF_QUESTION && !isInterested;
}

function isQuestion(words: string): boolean {
  return /[?？؟;]\s*$/u.test(words);
}

function modelIntent(
  { kind, confidence, spoken }: ReadReply,
  isDoubtfulQuestion: boolean,
): Pick<IntentVerdict, 'intent' | 'confidence'> {
  // Gives a question that may be an opt-out the intent `question`, because a person must answer it.
  if (kind === 'opt_out' && isDoubtfulQuestion) return { intent: 'question', confidence: PLAIN };
  const isMachine =
    (kind === 'automatic' && confidence >= SURELY_AUTOMATIC) || (kind === 'out_of_office' && confidence >= SURELY_AWAY);
  const plain = kind === 'opt_out' ? PLAIN_OPT_OUT : PLAIN;
  const intent = confidence < plain ? 'neutral' : INTENT_OF_KIND[toReplyKind(isMachine ? kind : spoken)];
  return { intent, confidence: Math.round(confidence * 100) / 100 };
}

function byKeywords(text: string, settings: ReplyIntentSettings): Pick<IntentVerdict, 'intent' | 'confidence'> | null {
  const negative = find(text, settings.negative_keywords ?? []);
  const against = negative.length;
  const favour = outside(find(text, settings.positive_keywords ?? []), negative).length;
  if (favour > against) return { intent: 'positive', confidence: certainty(favour, against) };
  if (against > 0) return { intent: 'negative', confidence: certainty(against, favour) };
  const away = find(text, settings.out_of_office_keywords ?? []).length;
  if (away > 0) return { intent: 'out_of_office', confidence: certainty(away, 0) };
  const asked = find(text, settings.question_keywords ?? []).length;
  return asked > 0 ? { intent: 'question', confidence: certainty(asked, 0) } : null;
}

/**
 * Returns the confidence: 0.6 for one matching keyword, 0.15 for each further one, minus 0.2 for each contrary one.
 */
function certainty(supporting: number, contrary: number): number {
  const value = 0.6 + 0.15 * (supporting - 1) - 0.2 * contrary;
  return Math.round(Math.min(0.95, Math.max(0.3, value)) * 100) / 100;
}

/** Finds keywords as whole words, longer keywords first, without overlaps. */
function find(text: string, list: readonly string[]): Span[] {
  const found: Span[] = [];
  const folded = [...new Set(list.map((keyword) => fold(keyword).replaceAll('\n', ' ').trim()))];
  for (const keyword of folded.sort((a, b) => b.length - a.length)) {
    if (keyword === '') continue;
    for (let at = text.indexOf(keyword); at >= 0; at = text.indexOf(keyword, at + keyword.length)) {
      const span = { start: at, end: at + keyword.length };
      if (isWhole(text, span)) found.push(...outside([span], found));
    }
  }
  return found;
}

function isWhole(text: string, { start, end }: Span): boolean {
  const meets = (left: string | undefined, right: string | undefined): boolean =>
    left !== undefined && right !== undefined && WORD.test(left) && WORD.test(right);
  return !meets(text[start - 1], text[start]) && !meets(text[end - 1], text[end]);
}

function outside(spans: readonly Span[], taken: readonly Span[]): Span[] {
  return spans.filter(({ start, end }) => !taken.some((other) => start < other.end && other.start < end));
}
