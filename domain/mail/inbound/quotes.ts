import { hasQuoteMarks, htmlToPlain } from './html-text.ts';
import type { InboundMessage } from './parse.ts';
import {
  AUTHOR_LABEL,
  DEVICE_LINE,
  INTRODUCTION_START,
  ORIGINAL_MARKER,
  OTHER_LABEL,
  RULE,
  WROTE,
} from './quote-words.ts';
import { withoutSentText } from './sent-lines.ts';

const ADDRESS = /[<[(][^<>\s]{1,200}@[^<>\s]{1,200}[>\])]/;
const DATED = /(?<!\d)(?:19|20)\d\d(?!\d)|(?<!\d)\d{1,2}[:.]\d{2}(?!\d)|\d{1,2}月|<[^<>\s]{1,200}@[^<>\s]{1,200}>/;
/** A date and a time of day, or a date in figures. */
const DATE_AND_TIME =
  /(?:(?:19|20)\d\d|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}).{0,60}?\d{1,2}[:.]\d{2}|\d{1,2}[:.]\d{2}.{0,60}?(?:19|20)\d\d/;
/** How many wrapped lines an introduction such as "On … wrote:" is followed over. */
const INTRODUCTION_LINES = 4;
const MAX_LINE = 400;
const MAX_LINES = 4000;
const MAX_DEVICE_LINE = 100;
const MAX_SIGNATURE_LINES = 12;

/**
 * The reply's own words: the body without quoted messages, the lines introducing them, and signatures.
 *
 * Reads the plain text and, where the HTML form marks what it quotes, that too, and believes the one that keeps less.
 *
 * @param sent texts that we sent to this person; what repeats them goes wherever it stands
 */
export function ownWords(message: InboundMessage, sent: readonly string[] = []): string {
  const plain = message.textFromHtml ? '' : withoutSentText(stripQuoted(message.text), sent);
  if (message.html === null || !(message.textFromHtml || hasQuoteMarks(message.html))) return plain;
  const marked = withoutSentText(stripQuoted(htmlToPlain(message.html, { quotes: 'mark' })), sent);
  if (message.textFromHtml) return marked;
  return marked !== '' && marked.length < plain.length ? marked : plain;
}

/**
 * Removes quoted text and signatures from a plain text reply, top-posted, bottom-posted or answered in
 * between.
 *
 * Lines starting with `>` and the introduction above them go wherever they are. An introduction not followed
 * by `>` lines, an Outlook header block (`From: … Sent: …`), an "Original Message" rule and the `-- ` of a
 * signature end the reply. The result is never longer than the input; the work grows with its length alone.
 */
export function stripQuoted(text: string): string {
  const lines = text.split(/\r?\n/, MAX_LINES);
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').trim().slice(0, MAX_LINE);
    if (isQuoteLine(line) || isDeviceLine(lines, at, line)) continue;
    if (isSignature(lines, at) || ORIGINAL_MARKER.test(line) || isHeaderBlock(lines, at)) break;
    const introduction = introductionLength(lines, at);
    if (introduction === 0) {
      kept.push((lines[at] ?? '').trimEnd());
      continue;
    }
    const next = nextFilled(lines, at + introduction);
    if (!isQuoteLine(next) && next !== '') break;
    at += introduction - 1;
  }
  while (kept.length > 0 && (kept.at(-1) === '' || RULE.test((kept.at(-1) ?? '').trim()))) kept.pop();
  return kept.join('\n').replace(/^\n+/, '');
}

function isQuoteLine(line: string): boolean {
  return line.startsWith('>') || line.startsWith('＞');
}

/**
 * Number of lines, from `at`, that form an introduction such as "On Mon, 1 Dec 2025, Ann wrote:"; 0 when
 * none. A line that names a date with a time and an address in brackets needs no verb.
 */
function introductionLength(lines: readonly string[], at: number): number {
  let joined = '';
  for (let count = 1; count <= INTRODUCTION_LINES; count += 1) {
    const line = (lines[at + count - 1] ?? '').trim().replace(/^-{1,12}\s|\s-{1,12}$/g, '');
    if (line === '' || isQuoteLine(line) || joined.length + line.length > MAX_LINE) return 0;
    if (count === 2 && !INTRODUCTION_START.test(joined) && !/<[^<>\s]+@/.test(joined)) return 0;
    joined = joined === '' ? line : `${joined} ${line}`;
    if (/[:：]$/.test(line)) return isIntroduction(joined) ? count : 0;
    // Some programs leave the colon out; then nothing but a verb after date and address will do.
    if (WROTE_AT_END.test(line) && DATED.test(joined) && ADDRESS.test(joined)) return count;
    // Whatever else ends a sentence was said by a person, not generated.
    if (/[!?。！？]$/.test(line)) return 0;
  }
  return 0;
}

const WROTE_AT_END = new RegExp(`${WROTE.source.replace(/\(\?=\[[^\]]*\]\|\$\)$/, '')}$`, 'i');

function isIntroduction(joined: string): boolean {
  if (WROTE.test(joined) && DATED.test(joined)) return true;
  return DATE_AND_TIME.test(joined) && ADDRESS.test(joined);
}

function isHeaderBlock(lines: readonly string[], at: number): boolean {
  const first = (lines[at] ?? '').trim().slice(0, MAX_LINE);
  if (!AUTHOR_LABEL.test(first)) return false;
  const next = lines.slice(at + 1, at + 6).map((line) => line.trim().slice(0, MAX_LINE));
  const labels = next.filter((line) => OTHER_LABEL.test(line)).length;
  // Labels alone are not enough: a person may write "From: the warehouse" above "To: the shop".
  return labels > 0 && [first, ...next].some((line) => /\S@\S/.test(line) || DATE_LABELLED.test(line));
}

/** "Sent from my phone" closes a reply; with more to follow it is a sentence like any other. */
function isDeviceLine(lines: readonly string[], at: number, line: string): boolean {
  if (line.length > MAX_DEVICE_LINE || !DEVICE_LINE.test(line)) return false;
  const next = nextFilled(lines, at + 1);
  if (next === '' || isQuoteLine(next) || RULE.test(next) || DEVICE_LINE.test(next)) return true;
  return !/[.!?]$/.test(line) || ORIGINAL_MARKER.test(next) || AUTHOR_LABEL.test(next) || INTRODUCTION_START.test(next);
}

/** The delimiter of a signature (RFC 3676); without its space only where little follows. */
function isSignature(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  if (line === '-- ') return true;
  if (!/^\s*(?:--|—)\s*$/.test(line)) return false;
  let filled = 0;
  for (let next = at + 1; next < lines.length && filled <= MAX_SIGNATURE_LINES; next += 1) {
    const text = (lines[next] ?? '').trim();
    if (isQuoteLine(text)) break;
    if (text !== '') filled += 1;
  }
  return filled <= MAX_SIGNATURE_LINES;
}

/** A label of a header block with a date behind it. */
const DATE_LABELLED =
  /^[\s>*_]{0,4}[\p{L} ]{2,20}\s?[:：]\*{0,2}\s?.{0,40}(?:\d{4}|\d{1,2}[.:]\d{2}|(?:mon|tues|wednes|thurs|fri|satur|sun)day)/iu;

function nextFilled(lines: readonly string[], from: number): string {
  for (let at = from; at < Math.min(lines.length, from + 4); at += 1) {
    const line = (lines[at] ?? '').trim();
    if (line !== '') return line;
  }
  return '';
}
