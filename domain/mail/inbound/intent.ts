import { optOutProbability } from '../reading/read-reply.ts';
import { fold } from './fold.ts';
import {
  NEGATIVE_KEYWORDS,
  OUT_OF_OFFICE_KEYWORDS,
  POSITIVE_KEYWORDS,
  QUESTION_KEYWORDS,
  UNSUBSCRIBE_KEYWORDS,
  UNSUBSCRIBE_REPLIES,
} from './keywords.ts';
import { anyOf } from './patterns.ts';

/** What a reply can mean, as the API names it. */
export type ReplyIntent = 'positive' | 'negative' | 'question' | 'neutral' | 'out_of_office' | 'automated';

/** The part of the `reply_intent` settings block that decides an intent. */
export interface ReplyIntentSettings {
  readonly enabled?: boolean | undefined;
  readonly positive_keywords?: readonly string[] | undefined;
  readonly negative_keywords?: readonly string[] | undefined;
  readonly out_of_office_keywords?: readonly string[] | undefined;
  readonly question_keywords?: readonly string[] | undefined;
}

interface IntentVerdict {
  readonly intent: ReplyIntent;
  /** 0 to 1: how much the words speak for the intent. */
  readonly confidence: number;
  readonly unsubscribeRequest: boolean;
  /** Words of opting out that may mean something else: for a person to look at. */
  readonly unsubscribeDoubtful: boolean;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

const MAX_READ = 16 * 1024;
/** Letters that belong to a word; Chinese and Japanese have no spaces between words. */
const WORD = /(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}]/u;
const NEGATORS: ReadonlySet<string> = new Set([
  'not',
  'no',
  'never',
  'neither',
  'nor',
  'without',
  'cannot',
  'hardly',
  'nicht',
  'kein',
  'keine',
  'keinen',
  'keinerlei',
  'nie',
  'niemals',
  'ohne',
  'pas',
  'jamais',
  'aucun',
  'aucune',
  'sans',
  'non',
  'nunca',
  'sin',
  'ningun',
  'mai',
  'senza',
  'nessun',
  'nessuna',
  'nao',
  'sem',
  'nenhum',
  'niet',
  'geen',
  'nooit',
  'zonder',
  'bez',
  'nem',
  'soha',
  'nelkul',
  'ikke',
  'ingen',
  'inte',
  'ej',
  'inget',
  'aldrig',
  'aldri',
  'ei',
  'emme',
  'ilman',
  'не',
  'нет',
  'ни',
  'ні',
  'без',
  'degil',
]);
const DECLINING = /(?:n't|\b(?:not|never|nicht|ne pas|no|non|nao|niet|nie|nem)) (?:want to |wish to |need to |me )?$/;
/** How many words back a negation reaches: "not at all that interested". */
const NEGATION_REACH = 4;

/**
 * Classifies a reply by keywords, on the reply's own words (see `ownWords`).
 *
 * Keywords match whole words, whatever their case and diacritics. A list that is absent or empty means the
 * built-in one. A negated positive keyword ("not really interested") counts as negative; a negated negative
 * one not at all. Where both remain, the more numerous side wins and a tie is negative: treating a refusal as
 * interest is the worse mistake. A request to be left out is always negative.
 */
export function replyIntent(words: string, subject: string, settings: ReplyIntentSettings = {}): IntentVerdict {
  const text = fold(words.slice(0, MAX_READ)).replaceAll('\n', ' ').trim();
  const negative = find(text, keywords(settings.negative_keywords, NEGATIVE_KEYWORDS));
  const positive = outside(find(text, keywords(settings.positive_keywords, POSITIVE_KEYWORDS)), negative);
  const optOut =
    optOutIn(text, subject, positive.length > 0) ??
    heardIn(words, { refused: negative.length > 0, interested: positive.length > 0 });
  const refused = positive.filter((span) => isNegated(text, span, NEGATION_REACH));
  const against = negative.filter((span) => !isNegated(text, span, 1)).length + refused.length;
  const favour = positive.length - refused.length;
  const verdict = (intent: ReplyIntent, confidence: number): IntentVerdict => ({
    intent,
    confidence,
    unsubscribeRequest: optOut === 'asked',
    unsubscribeDoubtful: optOut === 'doubtful',
  });

  if (optOut === 'asked') return verdict('negative', 0.95);
  if (favour > against) return verdict('positive', confidence(favour, against));
  if (against > 0) return verdict('negative', confidence(against, favour));
  const away = find(text, keywords(settings.out_of_office_keywords, OUT_OF_OFFICE_KEYWORDS)).length;
  if (away > 0) return verdict('out_of_office', confidence(away, 0));
  const asked = find(text, keywords(settings.question_keywords, QUESTION_KEYWORDS)).length;
  const marked = /\?(?=[\s)"'!?]|$)/.test(text);
  if (asked > 0 || marked) return verdict('question', confidence(asked + (marked ? 1 : 0), 0));
  return verdict('neutral', text === '' ? 0.2 : 0.5);
}

/**
 * Whether the workspace's out_of_office_keywords (or the built-in ones) occur; feeds the intent record of
 * automatic mail.
 */
export function mentionsOutOfOffice(words: string, settings: ReplyIntentSettings = {}): boolean {
  const text = fold(words.slice(0, MAX_READ)).replaceAll('\n', ' ');
  return find(text, keywords(settings.out_of_office_keywords, OUT_OF_OFFICE_KEYWORDS)).length > 0;
}

/** Whether the subject is the bare word that mail programs send to a List-Unsubscribe address (RFC 2369). */
export function isUnsubscribeSubject(subject: string): boolean {
  return fold(subject).trim() === 'unsubscribe';
}

function keywords(configured: readonly string[] | undefined, builtIn: readonly string[]): readonly string[] {
  return configured !== undefined && configured.length > 0 ? configured : builtIn;
}

/** One matching keyword is worth 0.6, each further one 0.15, each contrary one takes 0.2. */
function confidence(supporting: number, contrary: number): number {
  const value = 0.6 + 0.15 * (supporting - 1) - 0.2 * contrary;
  return Math.round(Math.min(0.95, Math.max(0.3, value)) * 100) / 100;
}

/** Occurrences of any of the keywords as whole words; longer keywords first, none overlapping. */
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

/** Whether a negation stands within `reach` words before the span, in the same clause. */
function isNegated(text: string, { start }: Span, reach: number): boolean {
  const clause =
    text
      .slice(Math.max(0, start - 120), start)
      .split(/[.!?;:,()]|\bbut\b/)
      .at(-1) ?? '';
  const before = clause.trim().split(' ').slice(-reach);
  return before.some((word) => NEGATORS.has(word) || word.endsWith("n't") || word.endsWith("n'"));
}

/**
 * Whether the writer asks to be left out. Asked: the request is all there is, or it is a sentence of its own in a short
 * reply. Doubtful: words of opting out in a longer text, beside interest, or in a sentence about something else, such as a
 * contract; those are for a person to read.
 */
function optOutIn(text: string, subject: string, interested: boolean): 'asked' | 'doubtful' | 'declined' | null {
  const whole = text.replace(/[^\p{L}\p{N}' -]+/gu, ' ').trim();
  const plain = whole.replace(/(?:^| )(?:please|pls|thanks|thank you|bitte|danke|merci)(?= |$)/g, ' ').trim();
  if (UNSUBSCRIBE_REPLIES.includes(plain) || isUnsubscribeSubject(subject)) return 'asked';
  const found = find(text, UNSUBSCRIBE_KEYWORDS);
  const spans = found.filter((span) => !isDeclined(text, span));
  if (spans.length === 0) return found.length > 0 ? 'declined' : null;
  const isShort = lengthInWords(whole) <= MAX_REQUEST_WORDS;
  const certain = spans.some((span) => isRequest(sentenceAround(text, span)));
  return isShort && certain && !interested ? 'asked' : 'doubtful';
}

/** Probability from which the trained model's reading is carried out at once, and from which a person is asked. */
export const SURE = 0.9;
export const DOUBT = 0.4;

/**
 * A request to be left out that the trained model hears, where no words of opting out are known. A question, and a reply that shows interest, is for a
 * person to read; words of refusing alone need its certainty.
 */
function heardIn(words: string, known: { refused: boolean; interested: boolean }): 'asked' | 'doubtful' | null {
  const optOut = optOutProbability(words);
  const isQuestion = /[?？؟;]\s*$/u.test(words);
  if (optOut >= SURE && !known.interested && !isQuestion) return 'asked';
  return optOut >= (known.refused ? SURE : DOUBT) ? 'doubtful' : null;
}

/** Words of a reply that a request to be left out can dominate, and of the sentence that makes it. */
const MAX_REQUEST_WORDS = 60;
const MAX_SENTENCE_WORDS = 25;
/** What else one can leave, cancel or be taken off. */
const OTHER_MATTERS = anyOf(
  [
    'contracts?|agreements?|clauses?|terms|trial|plans?|subscription plan|pricing|customers?|users|employees|workers|clients|our (?:list|newsletter)|feature|tenants?|invoice|gdpr tool',
    'vertrag\\p{L}*|kunden|contrats?|clients|contratos?|clientes|contratt[oi]|clienti|klanten|overeenkomst|kontrakt\\p{L}*|avtal\\p{L}*|aftale\\p{L}*|avtale\\p{L}*|sopimu\\p{L}*|umow\\p{L}*|smlouv\\p{L}*|szerzodes\\p{L}*|договор\\p{L}*|контракт\\p{L}*|sozlesme\\p{L}*',
  ],
  'u',
  String.raw`(?<!\p{L})`,
  String.raw`(?!\p{L})`,
);
const MATTERS_WITHOUT_SPACES = /契約|客户|客戶|合同|合約/;

function isRequest(sentence: string): boolean {
  if (OTHER_MATTERS.test(sentence) || MATTERS_WITHOUT_SPACES.test(sentence)) return false;
  if (lengthInWords(sentence) > MAX_SENTENCE_WORDS) return false;
  // "How do I unsubscribe?" asks for it; "do your users unsubscribe often, or do they stay?" does not.
  return (
    !sentence.endsWith('?') ||
    /(?<!\p{L})(?:i|me|us|we|ich|mich|uns|je|moi|me|mi|ik|mij|jeg|mig|meg|jag|minut|mnie|mne|меня|мене|beni)(?!\p{L})/u.test(
      sentence,
    )
  );
}

function sentenceAround(text: string, { start, end }: Span): string {
  const before = Math.max(...['.', '!', '?', '。'].map((mark) => text.lastIndexOf(mark, start - 1)));
  const after = text.slice(end).search(/[.!?。]/);
  return text.slice(before + 1, after < 0 ? text.length : end + after + 1).trim();
}

/** Words by spaces; of writing without spaces, every second character counts as one. */
function lengthInWords(text: string): number {
  const dense = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0;
  return text.split(' ').length + Math.floor(dense / 2);
}

/**
 * "Please don't unsubscribe me", "I don't want to unsubscribe": only right before the phrase does a
 * negation undo it.
 */
function isDeclined(text: string, { start }: Span): boolean {
  const before = text.slice(Math.max(0, start - 40), start);
  return DECLINING.test(before);
}
