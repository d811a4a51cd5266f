import { htmlToPlain } from './parse.ts';
import type { InboundMessage } from './parse.ts';
import { anyOf } from './patterns.ts';

/** Elements in which mail programs put what the reply answers, and the line that introduces it. */
const QUOTING_ELEMENTS = [
  'blockquote',
  '.gmail_quote',
  '.gmail_attr',
  '.gmail_extra',
  '.gmail_signature',
  '.gmail_signature_prefix',
  '.moz-cite-prefix',
  '.moz-signature',
  '.yahoo_quoted',
  '.protonmail_quote',
  '.protonmail_signature_block',
  '#Signature',
  'style',
  'title',
];

const WROTE = anyOf(
  [
    String.raw`wrote|writes|schrieb|schreef|a écrit|escribió|ha scritto|escreveu`,
    String.raw`napisał(?:\(a\)|a)?|ezt írta|írta`,
  ],
  'i',
  String.raw`(?:^|[\s,])`,
  String.raw`(?=[\s:(,]|$)`,
);
const DATED = /\b(?:19|20)\d\d\b|\b\d{1,2}[:.]\d{2}\b|<[^<>\s]{1,200}@[^<>\s]{1,200}>/;
const ORIGINAL_MARKER = anyOf(
  [
    String.raw`original message|original appointment|forwarded message|forwarded by\b.{0,100}`,
    String.raw`ursprüngliche nachricht|weitergeleitete nachricht|message d['’]origine|message original`,
    String.raw`message transféré|mensaje original|mensaje reenviado|messaggio originale`,
    String.raw`messaggio inoltrato|mensagem original|mensagem encaminhada|oorspronkelijk bericht`,
    String.raw`doorgestuurd bericht|wiadomość oryginalna|oryginalna wiadomość|eredeti üzenet`,
  ],
  'i',
  String.raw`^[-_*=\s]{3,40}\s*`,
  String.raw`\s*[-_*=\s]{0,40}$`,
);
const BLOCK_AUTHOR = /^\*?(?:from|von|de|da|van|od|feladó|expéditeur)\s?:\*?\s?\S/i;
const BLOCK_DATE = anyOf(
  [
    String.raw`sent|date|gesendet|datum|envoyé|enviado(?: el| em)?|fecha|data|inviato`,
    String.raw`verzonden|wysłano|küldve|elküldve`,
  ],
  'i',
  String.raw`^\*?`,
  String.raw`\s?:\*?\s?\S`,
);
const RULE = /^[_\-*=─—]{5,}$/;
const DEVICE_LINE = anyOf(
  [
    String.raw`sent from (?:my|mail for|outlook)\b|get outlook for\b|von meinem \S{1,30} gesendet`,
    String.raw`gesendet von (?:mail|meinem|outlook)|envoyé (?:de mon|depuis mon|à partir de)\b`,
    String.raw`enviado desde mi\b|inviato (?:da|dal mio)\b|enviado do meu\b`,
    String.raw`verzonden (?:vanaf mijn|met mijn)\b|wysłane z\b|az (?:én )?\S{1,20}[ -]ről küldve`,
  ],
  'i',
  '^',
);

const INTRODUCTION_START = anyOf(
  [
    String.raw`on|am|le|el|il|em|op|w dniu|dnia|den|\d{1,4}`,
    String.raw`(?:mon|tue|wed|thu|fri|sat|sun|pon|wt|śr|czw|pt|sob|ndz)[a-ząśń]{0,9}`,
  ],
  'i',
  String.raw`^["'*]?`,
  String.raw`[\s.,]`,
);

/** How many wrapped lines an introduction such as "On … wrote:" is followed over. */
const INTRODUCTION_LINES = 4;

/**
 * The reply's own words: the body without quoted messages, the lines introducing them, and signatures.
 *
 * Prefers the plain text body; an HTML-only reply loses its quoting elements first.
 */
export function ownWords(message: InboundMessage): string {
  if (!message.textFromHtml || message.html === null) return stripQuoted(message.text);
  return stripQuoted(htmlToPlain(message.html, QUOTING_ELEMENTS));
}

/**
 * Removes quoted text and signatures from a plain text reply, top-posted, bottom-posted or answered in
 * between.
 *
 * Lines starting with `>` and the introduction above them go wherever they are. An introduction not followed
 * by `>` lines, an Outlook header block (`From: … Sent: …`), an "Original Message" rule and the `-- ` of a
 * signature end the reply. Knows the forms of English, German, French, Spanish, Italian, Portuguese, Dutch,
 * Polish and Hungarian. The result is never longer than the input.
 */
export function stripQuoted(text: string): string {
  const lines = text.split(/\r?\n/);
  const kept: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').trim();
    if (line.startsWith('>') || DEVICE_LINE.test(line)) continue;
    if (line === '--' || ORIGINAL_MARKER.test(line) || isHeaderBlock(lines, at)) break;
    const introduction = introductionLength(lines, at);
    if (introduction === 0) {
      kept.push((lines[at] ?? '').trimEnd());
      continue;
    }
    const next = nextFilled(lines, at + introduction);
    if (!next.startsWith('>')) break;
    at += introduction - 1;
  }
  while (kept.length > 0 && (kept.at(-1) === '' || RULE.test(kept.at(-1) ?? ''))) kept.pop();
  return kept.join('\n').replace(/^\n+/, '');
}

/**
 * Number of lines, from `at`, that form an introduction such as "On Mon, 1 Dec 2025, Ann wrote:"; 0 when
 * none.
 */
function introductionLength(lines: readonly string[], at: number): number {
  let joined = '';
  for (let count = 1; count <= INTRODUCTION_LINES; count += 1) {
    const line = (lines[at + count - 1] ?? '').trim();
    if (line === '' || line.startsWith('>') || joined.length + line.length > 500) return 0;
    if (count === 2 && !INTRODUCTION_START.test(joined) && !/<[^<>\s]+@/.test(joined)) return 0;
    joined = joined === '' ? line : `${joined} ${line}`;
    if (line.endsWith(':')) return WROTE.test(joined) && DATED.test(joined) ? count : 0;
    // Whatever else ends a sentence was said by a person, not generated.
    if (/[!?]$/.test(line)) return 0;
  }
  return 0;
}

function isHeaderBlock(lines: readonly string[], at: number): boolean {
  if (!BLOCK_AUTHOR.test((lines[at] ?? '').trim().slice(0, 300))) return false;
  return lines.slice(at + 1, at + 5).some((line) => BLOCK_DATE.test(line.trim().slice(0, 300)));
}

function nextFilled(lines: readonly string[], from: number): string {
  for (let at = from; at < Math.min(lines.length, from + 4); at += 1) {
    const line = (lines[at] ?? '').trim();
    if (line !== '') return line;
  }
  return '';
}
