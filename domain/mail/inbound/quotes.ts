import {
  AUTHOR_LABEL,
  DEVICE_LINE,
  EXCUSE,
  INTRODUCTION_START,
  ORIGINAL_MARKER,
  OTHER_LABEL,
  PERSONAL,
  RULE,
  ATTRIBUTION_LINE,
  DISTINCTIVE_LABEL,
  WROTE,
} from './quote-words.ts';
import { unwrapped } from './unwrapped.ts';

const ADDRESS = /[<[(][^<>\s]{1,200}@[^<>\s]{1,200}[>\])]/;
const DATED = /(?<!\d)(?:19|20)\d\d(?!\d)|(?<!\d)\d{1,2}[:.]\d{2}(?!\d)|\d{1,2}月|<[^<>\s]{1,200}@[^<>\s]{1,200}>/;
/** A date with a time of day, or a numeric date. */
const DATE_AND_TIME =
  /(?:(?:19|20)\d\d|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}).{0,60}?\d{1,2}[:.]\d{2}|\d{1,2}[:.]\d{2}.{0,60}?(?:19|20)\d\d/;
/** Day, month and year, in digits or with the month's name. */
const FULL_DATE =
  /(?<!\d)\d{1,4}[./-]\s?\d{1,2}[./-]\s?\d{1,4}|\d{4}年|(?<!\d)\d{1,2}\.?\s(?:de\s)?\p{L}{3,12}\.?,?\s(?:de\s)?(?:19|20)\d\d|\p{L}{3,12}\.?\s\d{1,2},?\s(?:19|20)\d\d|(?:19|20)\d\d\.?\s\p{L}{3,12}\.?\s\d{1,2}/u;
/** Day, month and time without a year: "Feb 24 at 10:19". */
const DAY_AND_TIME =
  /(?:\p{L}{3,12}\.?\s\d{1,2}|\d{1,2}\.?\s(?:de\s)?\p{L}{3,12}\.?|\d{1,2}[./]\d{1,2}\.?),?\s(?:\p{L}{1,4}\s){0,2}\d{1,2}[:.]\d{2}/u;
/** Words that may be alone on the first line of a quote's introduction, such as "On Monday,". */
const LEAD_IN = /^(?:w dniu|il giorno|\p{L}{1,4})?\s?\p{L}{2,13}[.,]{0,2}$/iu;
/** Line above a quote that consists of a date and an author, without a verb. */
const DATED_AUTHOR = /^\d{2,4}[./-]\d{1,2}[./-]\d{1,4}\s.{0,200}<[^<>\s]{1,200}@[^<>\s]{1,200}>$/;
/** Places within a line where the introduction of a quote may begin after the writer's words. */
const BEGINNING = /(?:\s*-{2,12}\s*|\s+)(?=(?:on|am|le|el|il|em|op|den|dne|på)\s)/gi;
/** Matches "As Ann wrote", which is part of a sentence and does not introduce a quote. */
const AS_SAID = /^(?:as|like|since|because|when|what|wie|was|comme|como|come|zoals|som|kuten|jak|как|як)\s/i;
/** Maximum number of wrapped lines of an introduction such as "On … wrote:". */
const INTRODUCTION_LINES = 4;
/** Maximum number of lines of a header block, including the rule above it. */
const HEADER_LINES = 8;
const MAX_LINE = 400;
const MAX_LINES = 4000;
const MAX_DEVICE_LINE = 100;
const MAX_SIGNATURE_LINES = 12;
/** Matches a line of several words that ends with a colon and announces a list. A name does not match. */
const OWN_HEADING = /^[^>＞\s]\S*\s(?:\S+\s)?(?:\p{Ll}|[\p{Lo}]{2})\S*[^\n]*[:：]$/u;
/** Matches a comparison such as ">10 pallets" or ">= €5", but not the quoted line ">1. the first point". */
const COMPARISON = /^\s*>=?[€$£]?\d(?!\d?[.)]\s)/;
/** Matches a decorated line such as ">>> our site <<<", which is not a quote. */
const DECORATED = /^\s*>.{0,300}<\s*$/;
/** Maximum number of lines in a list that a person marks with `>`. */
const MAX_TYPED_LIST = 10;
/** Words above a forwarded message. */
const FORWARDED =
  /forward|message|mail|nachricht|weiterg|transf|reenvi|mensaje|inoltr|messaggio|encaminh|mensagem|bericht|besked|meddelan|melding|viesti|wiadomo|zpráv|üzenet|сообщ|повідомл|письм|лист|ileti|mesaj|メッセージ|メール|邮件|郵件/i;

/**
 * Removes quoted text and signatures from a plain text reply, whether the writer's words are above, below or between
 * the quotes. Removes lines that start with `>`, and the introduction above them. Everything is removed after an
 * introduction without `>` lines, an Outlook header block (`From: … Sent: …`), an "Original Message" rule, or a
 * signature delimiter (`-- `). Keeps a line if its author is uncertain. Repetitions of our emails are removed later by
 * comparing their text. The result is never longer than the input, and the work is linear in its length.
 */
export function stripQuoted(text: string): string {
  const lines = unwrapped(text).split(/\r?\n/, MAX_LINES);
  const typed = typedMarks(lines);
  const kept: string[] = [];
  let inSignature = false;
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').trim().slice(0, MAX_LINE);
    const isQuoted = isQuoteLine(line) && !typed.has(at);
    // A quote ends the signature, because the writer may continue after the quote.
    inSignature = isSignature(lines, at) || (inSignature && !isQuoted);
    if (isQuoted || isDeviceLine(lines, at, line) || isBrokenLink(lines, at)) continue;
    if (ORIGINAL_MARKER.test(line) || isHeaderBlock(lines, at)) break;
    const introduction = introductionAt(lines, at);
    if (inSignature && introduction === null) continue;
    const next = introduction === null ? '' : nextFilled(lines, at + introduction.length);
    if (introduction === null || (next !== '' && !isQuoteLine(next) && !introduction.generated)) {
      kept.push((lines[at] ?? '').trimEnd());
      continue;
    }
    const before = introduction.length === 1 ? wordsBefore(line) : '';
    if (before !== '') kept.push(before);
    if (!isQuoteLine(next) && next !== '') break;
    at += introduction.length - 1;
  }
  while (kept.length > 0 && (kept.at(-1) === '' || RULE.test((kept.at(-1) ?? '').trim()))) kept.pop();
  return kept.join('\n').replace(/^\n+/, '');
}

/** Returns true if a text ends in a program's marker above a quote: an introduction, a header block or a rule. */
export function endsWithIntroduction(text: string): boolean {
  const lines = text.trimEnd().split('\n');
  for (let at = Math.max(0, lines.length - HEADER_LINES); at < lines.length; at += 1) {
    if (ORIGINAL_MARKER.test(lines[at]!.trim()) || isHeaderBlock(lines, at)) return true;
    if (introductionAt(lines, at)?.length === lines.length - at) return true;
  }
  return false;
}

function isQuoteLine(line: string): boolean {
  return line.startsWith('>') || line.startsWith('＞');
}

/**
 * Returns the lines that start with a `>` typed by a person. Such lines are comparisons (">10 pallets"), or a list
 * below a line such as "We need:".
 */
function typedMarks(lines: readonly string[]): ReadonlySet<number> {
  const marked = lines.flatMap((line, at) => (isQuoteLine(line.trim()) ? [at] : []));
  const isAlone = (at: number): boolean =>
    !isQuoteLine((lines[at - 1] ?? '').trim()) && !isQuoteLine((lines[at + 1] ?? '').trim());
  const typed = new Set(
    marked.filter((at) => isAlone(at) && (COMPARISON.test(lines[at] ?? '') || DECORATED.test(lines[at] ?? ''))),
  );
  const rest = marked.filter((at) => !typed.has(at));
  const [first = 0] = rest;
  const above = (lines[first - 1] ?? '').trim().slice(0, MAX_LINE);
  const isOneList = rest.length <= MAX_TYPED_LIST && rest.every((at, index) => at === first + index);
  if (!isOneList || !OWN_HEADING.test(above) || ATTRIBUTION_LINE.test(above) || DATED.test(above)) return typed;
  if (rest.some((at) => /^\s*[>＞]\s?[>＞]|[:：]$/.test(lines[at] ?? ''))) return typed;
  return new Set(marked);
}

/**
 * Returns true if a line is the second part of a quoted link. It has no `>`, because a program broke the link into two
 * lines.
 */
function isBrokenLink(lines: readonly string[], at: number): boolean {
  const [before = '', line = '', after = ''] = [lines[at - 1], lines[at], lines[at + 1]].map((each) => each?.trim());
  if (line === '' || !isQuoteLine(before) || !isQuoteLine(after)) return false;
  return /^\(?https?:\S+\s?>?$/.test(line) || (!/\s/.test(line) && /https?:\S*$/.test(before));
}

/**
 * One or more lines that name the date and author of a quote. `generated` is true if only a program writes in this
 * form.
 */
interface Introduction {
  readonly length: number;
  readonly generated: boolean;
}

/**
 * Returns the introduction that begins at a line, such as "On Mon, 1 Dec 2025, Ann wrote:". A line with a date, a time
 * and an address in brackets needs no verb.
 */
function introductionAt(lines: readonly string[], at: number): Introduction | null {
  const taken: string[] = [];
  for (let count = 1; count <= INTRODUCTION_LINES; count += 1) {
    const whole = (lines[at + count - 1] ?? '').trim();
    const isRuled = /^-{2,12}[^-].*[^-]-{2,12}$/.test(whole);
    const line = whole.replace(isRuled ? /^-+\s?|\s?-+$/g : /^-{1,12}\s|\s-{1,12}$/g, '');
    const joined = [...taken, line].join(' ').replace(/<\s+(?=\S+@)/, '<');
    if (line === '' || isQuoteLine(line) || joined.length > MAX_LINE) return null;
    const before = taken.join(' ');
    if (count === 2 && !INTRODUCTION_START.test(before) && !/<[^<>\s]+@/.test(before)) return null;
    // If the introduction has several lines, the first must contain a digit, an address, or words such as "On Monday,".
    if (count === 2 && !/[\d@]/.test(before) && !LEAD_IN.test(before)) return null;
    taken.push(line);
    if (isRuled && count === 1 && WROTE_AT_END.test(line)) return { length: 1, generated: DATED.test(line) };
    if (count === 1 && DATED_AUTHOR.test(line)) return { length: 1, generated: false };
    // Some programs omit the colon at the end. Then the line must contain a date and an address, and end in a verb such
    // as "wrote".
    const ends = /[:：]$/.test(line)
      ? isIntroduction(joined)
      : WROTE_AT_END.test(line) && DATED.test(joined) && ADDRESS.test(joined);
    // Accepts several lines as an introduction only if they contain a date, a day with a time, or an address.
    if (ends && count > 1 && ![FULL_DATE, DAY_AND_TIME, ADDRESS].some((each) => each.test(joined))) return null;
    if (ends) return isPrecededByOwn(taken) ? null : { length: count, generated: isGenerated(joined) };
    // A line with another punctuation mark at its end was written by a person.
    if (/[:：!?。！？]$/.test(line)) return null;
  }
  return null;
}

const WROTE_AT_END = new RegExp(`${WROTE.source.replace(/\(\?=\[[^\]]*\]\|\$\)$/, '')}$`, 'i');

function isIntroduction(joined: string): boolean {
  if (WROTE.test(joined) && DATED.test(joined)) return true;
  if (!DATE_AND_TIME.test(joined) || !ADDRESS.test(joined)) return false;
  return /[>)\]](?:\s\S+){0,2}\s{0,3}[:：]$/.test(joined) || INTRODUCTION_START.test(joined);
}

/**
 * Returns the writer's words before a program's introduction on the same line. Empty if the line is only the
 * introduction.
 */
function wordsBefore(line: string): string {
  if (INTRODUCTION_START.test(line)) return '';
  const isWhole = (rest: string): boolean => rest.includes('@') && DATE_AND_TIME.test(rest) && isIntroduction(rest);
  const starts = Array.from(line.matchAll(BEGINNING), ({ index, 0: gap }) => [index, index + gap.length] as const);
  const [end = 0] = starts.findLast(([, start]) => isWhole(line.slice(start))) ?? [];
  return line.slice(0, end);
}

/**
 * Returns true if the introduction of a quote begins after the first of these lines. The lines above it are the
 * writer's words.
 */
function isPrecededByOwn(lines: readonly string[]): boolean {
  return lines.some((_, at) => {
    const rest = lines.slice(at).join(' ');
    return at > 0 && FULL_DATE.test(rest) && isIntroduction(rest) && !LEAD_IN.test(lines.slice(0, at).join(' '));
  });
}

/** Returns true if an introduction has a form that only programs write. */
function isGenerated(joined: string): boolean {
  if (AS_SAID.test(joined)) return false;
  return !PERSONAL.test(joined) || joined.includes('@') || (FULL_DATE.test(joined) && /\d:\d\d/.test(joined));
}

function isHeaderBlock(lines: readonly string[], at: number): boolean {
  const first = (lines[at] ?? '').trim().slice(0, MAX_LINE);
  const second = (lines[at + 1] ?? '').trim().slice(0, MAX_LINE);
  const isLabelledAddress = !AUTHOR_LABEL.test(second) && OTHER_LABEL.test(second) && /\S@\S/.test(second);
  if (OTHER_LABEL.test(first) && DATE_LABELLED.test(first) && /\d:\d\d/.test(first) && isLabelledAddress) return true;
  if (!AUTHOR_LABEL.test(first)) return false;
  const above = (lines[at - 1] ?? '').trim().slice(-MAX_LINE);
  // A line such as "This is the header:" directly above means that the writer quotes the header on purpose.
  if (/[:：]$/.test(above) && !FORWARDED.test(above)) return false;
  const below = lines.slice(at + 1, at + 6).map((line) => line.trim().slice(0, MAX_LINE));
  const another = below.findIndex((line) => AUTHOR_LABEL.test(line) && !OTHER_LABEL.test(line));
  const next = another < 0 ? below : below.slice(0, another);
  const isLabelled = (index: number): boolean => index < 0 || OTHER_LABEL.test(next[index] ?? '');
  // A label's value may continue on the next line.
  const block = [
    first,
    ...next.filter((line, index) => isLabelled(index) || (isLabelled(index - 1) && /^[<[]/.test(line))),
  ];
  if (!next.some((_, index) => isLabelled(index))) return false;
  // Labels alone are not sufficient, because a person may write "From: Berlin" above "To: Munich" and "Date: 12 May
  // 10:00".
  return (
    block.some((line) => /\S@\S/.test(line)) ||
    (block.some((line) => DISTINCTIVE_LABEL.test(line)) && block.some((line) => DATE_LABELLED.test(line)))
  );
}

/**
 * Returns true for a device line such as "Sent from my phone". If more text follows the line, it is an ordinary
 * sentence and the result is false.
 */
function isDeviceLine(lines: readonly string[], at: number, line: string): boolean {
  if (line.length > MAX_DEVICE_LINE || !DEVICE_LINE.test(line)) return false;
  if (/[,.;:!?–-]\s+\S+\s+\S+\s+\S/.test(line) && !EXCUSE.test(line)) return false;
  const next = nextFilled(lines, at + 1);
  if (next === '' || isQuoteLine(next) || RULE.test(next) || DEVICE_LINE.test(next)) return true;
  return !/[.!?]$/.test(line) || ORIGINAL_MARKER.test(next) || AUTHOR_LABEL.test(next) || INTRODUCTION_START.test(next);
}

/**
 * Returns true for a signature delimiter (RFC 3676). A delimiter without its trailing space is accepted only if few
 * lines follow and no sentence precedes it.
 */
function isSignature(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  if (line === '-- ') return true;
  if (!/^\s*(?:--|—)\s*$/.test(line) || isSentence(nextFilled(lines, at + 1))) return false;
  let filled = 0;
  for (let next = at + 1; next < lines.length && filled <= MAX_SIGNATURE_LINES; next += 1) {
    const text = (lines[next] ?? '').trim();
    if (isQuoteLine(text)) break;
    if (text !== '') filled += 1;
  }
  return filled <= MAX_SIGNATURE_LINES;
}

/**
 * Returns true if a line below a signature delimiter continues the reply, because it is a question or a long line of
 * words. Returns false for names, titles, numbers, links and legal notices.
 */
function isSentence(line: string): boolean {
  if (
    /[@|]|https?:|www\.|confiden|vertraulich|intended|recipient|empfänger|destinat|disclaimer|unsubscribe/i.test(line)
  )
    return false;
  return /[?？]$/.test(line) || line.split(/\s+/, 7).length > 6;
}

/** Matches a label at the start of a line, such as `Sent:`, followed by a date. */
const DATE_LABELLED =
  /^[\s>*_]{0,4}[\p{L} ]{2,20}\s?[:：]\*{0,2}\s?.{0,40}(?:\d{4}|\d{1,2}[.:]\d{2}|(?:mon|tues|wednes|thurs|fri|satur|sun)day)/iu;

function nextFilled(lines: readonly string[], from: number): string {
  for (let at = from; at < Math.min(lines.length, from + 4); at += 1) {
    const line = (lines[at] ?? '').trim();
    if (line !== '') return line;
  }
  return '';
}
