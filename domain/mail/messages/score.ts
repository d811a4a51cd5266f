import { getDomain } from 'tldts';
import { message, type Message } from '../../../messages/index.ts';
import { findHtmlLinks } from './html.ts';
import { findTextLinks, type FoundLink } from './text-links.ts';
import { htmlToText } from './to-text.ts';
import { LINK_SHORTENERS, SPAM_PHRASES } from './score-words.ts';
import { maskSpintax } from './spintax.ts';

/** Text as written by its author, with spintax and merge fields. */
export interface ScoredCopy {
  readonly subject?: string;
  readonly bodyPlain?: string;
  readonly bodyHtml?: string;
  /** True for a reply within a conversation. It needs no own subject, and its "Re:" is not misleading. */
  readonly isReply?: boolean;
}

/** Position of an issue in the text. */
interface ScoreSpan {
  readonly field: 'subject' | 'body';
  readonly text: string;
  /** Line number in its field, from 1. */
  readonly line: number;
  /** The whole line in which the issue was found. */
  readonly excerpt: string;
}

interface ScoreIssue {
  readonly severity: 'warn' | 'high';
  /**
   * Text of the issue: `copy.<code>` or `copy.<code>.<case>`. The suggestion has the message code `copy.<code>.fix`.
   */
  readonly message: Message;
  /** Absent if the issue concerns the whole email. */
  readonly field?: 'subject' | 'body';
  /** Positions of the issue, at most eight. */
  readonly spans: readonly ScoreSpan[];
  /** Number of points subtracted from the score. */
  readonly points: number;
}

export interface ContentScore {
  /** Score from 0 to 100. A higher score means less risk. */
  readonly score: number;
  readonly issues: readonly ScoreIssue[];
}

const MAX_SPANS = 8;
const MAX_MATCHES = 50;
const MAX_EXCERPT = 300;
const MAX_SCORED_LENGTH = 64 * 1024;
const MAX_SUBJECT_LENGTH = 70;
const MAX_LINKS = 3;
const MAX_WORDS = 350;
const MIN_WORDS = 8;
/** Minimum number of words per link, and per image. Fewer words look like advertising. */
const WORDS_PER_LINK = 20;
const WORDS_PER_IMAGE = 40;

interface Text {
  readonly subject: string;
  readonly body: string;
  readonly html: string;
  readonly words: number;
  readonly links: readonly FoundLink[];
  readonly isReply: boolean;
}

type Check = (text: Text) => ScoreIssue[];

/**
 * Scores an email's text as a content filter would: 100 minus the points of every issue. The rules concern phrases,
 * capitals, exclamation marks, links, the ratio of images to text, length, and hidden or active markup. Checks all
 * spintax options; a merge field is treated as one word. Excludes the opt-out footer and the signature. Reads at most
 * 64 KiB of each field.
 */
export function scoreContent(copy: ScoredCopy): ContentScore {
  const html = maskSpintax((copy.bodyHtml ?? '').slice(0, MAX_SCORED_LENGTH), { html: true });
  const plain = maskSpintax((copy.bodyPlain ?? '').slice(0, MAX_SCORED_LENGTH));
  const body = blankActions(plain.trim() === '' ? htmlToText(html) : plain);
  const text: Text = {
    subject: blankActions(maskSpintax((copy.subject ?? '').slice(0, MAX_SCORED_LENGTH))).trim(),
    body,
    html,
    words: body.match(/[\p{L}\p{N}]+/gu)?.length ?? 0,
    links: html.trim() === '' ? findTextLinks(body) : findHtmlLinks(html),
    isReply: copy.isReply ?? false,
  };
  const issues = CHECKS.flatMap((check) => check(text));
  const lost = issues.reduce((sum, { points }) => sum + points, 0);
  return { score: Math.max(0, 100 - lost), issues: issues.toSorted((a, b) => b.points - a.points) };
}

/** Replaces each merge field by a word, without changing the line numbers. */
function blankActions(source: string): string {
  return source.replace(/\{\{[^{}\n]{0,500}\}\}/g, 'field');
}

const CHECKS: readonly Check[] = [
  phrases,
  subjectForm,
  shouting,
  exclamation,
  linkCount,
  linkKinds,
  images,
  length,
  markup,
];

const PHRASES = {
  high: phrasePattern(SPAM_PHRASES.filter(({ high }) => high).map(({ phrase }) => phrase)),
  low: phrasePattern(SPAM_PHRASES.filter(({ high }) => !high).map(({ phrase }) => phrase)),
};

function phrases({ subject, body }: Text): ScoreIssue[] {
  const issue = (high: boolean, each: number, most: number): ScoreIssue[] => {
    const pattern = high ? PHRASES.high : PHRASES.low;
    const spans = [...spansIn('subject', subject, pattern), ...spansIn('body', body, pattern)];
    if (spans.length === 0) return [];
    return [
      {
        severity: high ? 'high' : 'warn',
        message: message(high ? 'copy.spam_phrases' : 'copy.advertising_phrases'),
        spans: spans.slice(0, MAX_SPANS),
        points: Math.min(most, spans.length * each),
      },
    ];
  };
  return [...issue(true, 15, 45), ...issue(false, 4, 20)];
}

function subjectForm({ subject, isReply }: Text): ScoreIssue[] {
  const found: ScoreIssue[] = [];
  const add = (points: number, said: Message) =>
    found.push({ severity: points >= 15 ? 'high' : 'warn', message: said, field: 'subject', spans: [], points });
  if (subject === '') {
    if (!isReply) add(20, message('copy.no_subject'));
    return found;
  }
  if (!isReply && /^(?:re|fwd?|aw|wg)\s*:/i.test(subject)) add(20, message('copy.false_reply'));
  if (subject.length > MAX_SUBJECT_LENGTH) add(4, message('copy.long_subject', { most: MAX_SUBJECT_LENGTH }));
  if (/[$€£]/.test(subject)) add(6, message('copy.money_in_subject'));
  if (/\p{Extended_Pictographic}/u.test(subject)) add(3, message('copy.emoji_in_subject'));
  return found;
}

function shouting({ subject, body }: Text): ScoreIssue[] {
  const found: ScoreIssue[] = [];
  const letters = subject.match(/\p{L}/gu) ?? [];
  if (letters.length >= 8 && letters.filter((letter) => /\p{Lu}/u.test(letter)).length > letters.length * 0.7)
    found.push(capitals('subject', 15, []));
  const spans = spansIn('body', body, /(?<![\p{L}\p{N}])\p{Lu}{5,}(?![\p{L}\p{N}])/gu);
  if (spans.length >= 3) found.push(capitals('body', Math.min(15, spans.length * 3), spans.slice(0, MAX_SPANS)));
  return found;
}

function capitals(field: 'subject' | 'body', points: number, spans: readonly ScoreSpan[]): ScoreIssue {
  return {
    severity: points >= 15 ? 'high' : 'warn',
    message: message(`copy.capitals.${field}`),
    field,
    spans,
    points,
  };
}

function exclamation({ subject, body }: Text): ScoreIssue[] {
  const spans = [...spansIn('subject', subject, /!+/g), ...spansIn('body', body, /!+/g)];
  const marks = spans.reduce((sum, { text }) => sum + text.length, 0);
  if (marks <= 2) return [];
  return [
    {
      severity: 'warn',
      message: message('copy.exclamation_marks', { count: marks }),
      spans: spans.slice(0, MAX_SPANS),
      points: Math.min(12, marks * 2),
    },
  ];
}

function linkCount({ links, words }: Text): ScoreIssue[] {
  const found: ScoreIssue[] = [];
  const add = (points: number, said: Message) =>
    found.push({ severity: points >= 12 ? 'high' : 'warn', message: said, field: 'body', spans: [], points });
  const count = links.length;
  if (count > MAX_LINKS) add(Math.min(20, (count - MAX_LINKS) * 5), message('copy.too_many_links', { count }));
  if (count > 1 && words < count * WORDS_PER_LINK) add(8, message('copy.links_outweigh_text', { links: count, words }));
  return found;
}

function linkKinds({ links }: Text): ScoreIssue[] {
  const kinds: { said: Message; points: number; is: (link: FoundLink, url: URL) => boolean }[] = [
    {
      said: message('copy.link_shortener'),
      points: 15,
      is: (_link, { hostname }) => LINK_SHORTENERS.has(hostname),
    },
    {
      said: message('copy.link_to_address'),
      points: 20,
      is: (_link, { hostname }) => /^(?:\d+\.){3}\d+$|^\[/.test(hostname),
    },
    {
      said: message('copy.insecure_link'),
      points: 3,
      is: (_link, { protocol }) => protocol === 'http:',
    },
    {
      said: message('copy.deceptive_link'),
      points: 25,
      is: ({ label }, { hostname }) => namesOtherSite(label, hostname),
    },
  ];
  return kinds.flatMap(({ said, points, is }) => {
    const spans = links
      .filter((link) => is(link, new URL(link.url)))
      .map(({ url }): ScoreSpan => ({ field: 'body', text: url, line: 1, excerpt: url }));
    if (spans.length === 0) return [];
    return [
      {
        severity: points >= 15 ? ('high' as const) : ('warn' as const),
        message: said,
        field: 'body' as const,
        spans: spans.slice(0, MAX_SPANS),
        points,
      },
    ];
  });
}

function namesOtherSite(label: string, hostname: string): boolean {
  const named = /^(?:https?:\/\/)?((?:[\w-]{1,63}\.)+[a-z]{2,24})(?:[/?#]|$)/i.exec(label.trim())?.[1];
  const site = named && getDomain(named);
  return Boolean(site) && site !== getDomain(hostname);
}

function images({ html, words }: Text): ScoreIssue[] {
  const count = html.match(/<img\b/gi)?.length ?? 0;
  if (count === 0 || words >= count * WORDS_PER_IMAGE) return [];
  const points = words < WORDS_PER_IMAGE / 2 ? 20 : 10;
  return [
    {
      severity: points >= 15 ? 'high' : 'warn',
      message: message('copy.images_outweigh_text', { images: count, words }),
      field: 'body',
      spans: [],
      points,
    },
  ];
}

function length({ words }: Text): ScoreIssue[] {
  const issue = (said: Message): ScoreIssue[] => [
    { severity: 'warn', message: said, field: 'body', spans: [], points: 5 },
  ];
  if (words > MAX_WORDS) return issue(message('copy.long_body', { words }));
  if (words < MIN_WORDS) return issue(message('copy.short_body', { words }));
  return [];
}

function markup({ html }: Text): ScoreIssue[] {
  const found: ScoreIssue[] = [];
  const add = (points: number, said: Message) =>
    found.push({ severity: 'high', message: said, field: 'body', spans: [], points });
  if (/<(?:script|form|iframe|object|embed)\b/i.test(html)) add(30, message('copy.active_markup'));
  if (/font-size\s*:\s*0(?:px|pt|em)?\s*[;"']|display\s*:\s*none|visibility\s*:\s*hidden/i.test(html))
    add(20, message('copy.hidden_text'));
  return found;
}

/** Returns a pattern that matches any of the phrases as whole words, with any spacing. */
function phrasePattern(phrases: readonly string[]): RegExp {
  const any = phrases.map((phrase) => phrase.replaceAll(' ', '\\s+')).join('|');
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${any})(?![\\p{L}\\p{N}])`, 'giu');
}

/** Returns the positions at which a pattern matches, at most as many as change the score. */
function spansIn(field: ScoreSpan['field'], source: string, pattern: RegExp): ScoreSpan[] {
  const spans: ScoreSpan[] = [];
  for (const match of source.matchAll(pattern)) {
    const before = source.slice(0, match.index);
    const start = before.lastIndexOf('\n') + 1;
    const end = source.indexOf('\n', match.index);
    const excerpt = source.slice(start, end === -1 ? undefined : end).slice(0, MAX_EXCERPT);
    spans.push({ field, text: match[0].slice(0, MAX_EXCERPT), line: before.split('\n').length, excerpt });
    if (spans.length === MAX_MATCHES) break;
  }
  return spans;
}
