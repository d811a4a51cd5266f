import { commentsIn } from './comments.ts';

/** Maximum number of words in a sentence. */
const MAX_WORDS = 28;
const OPENING = /^(?:what|how|whether|where|of|who)\b/i;
/** Matches a text that ends with an abbreviation, whose full stop does not end a sentence. */
const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|cf|vs|approx|incl|no)\.$/i;

/**
 * Metaphors that comments must not use, each with the plain words to use instead. The patterns allow other uses of the
 * words.
 */
const METAPHORS: readonly (readonly [RegExp, string])[] = [
  [
    /(?<!\b(?:dead|digits?|case|capital|script|alphabet)\b.*)\bletters?\b(?!.*\b(?:digits?|case|script|alphabet)\b)/i,
    'email',
  ],
  [/\b(?:its|their|his|whose) ways?\b|\bon the way\b|\bthe way (?:to|on|of)\b/i, 'path'],
  [/\btold\b/i, 'notified, or named'],
  [/\bsaid\b/i, 'the error, answer or report by its name'],
  [/\b(?:looks? (?:again|at|beyond|after)|(?:a|last) look(?!-)|looked at|looking at)\b/i, 'query, read or check'],
  [/\b(?:a|an|each|one|next|last|this|every|its|their|whose) turns?\b|\bturns? (?:of|that|which)\b/i, 'iteration'],
  [
    /(?<!\btells? (?:\w+ ){0,5}|\b(?:days?|hours?|minutes?|seconds?|ms) )\bapart\b(?! from)/i,
    'savepoint, or separately',
  ],
  [/\bhome\b(?!-? ?(?:page|folder|directory))/i, 'owner, or place'],
  [/(?<!by |other |one )\bhands?\b(?! (?:over|out|on))/i, 'worker, or person'],
];

/** Place in a source that breaks a prose rule. */
export interface Finding {
  /** First line of the comment, from 1. */
  line: number;
  /** The broken rule with the quoted words. */
  message: string;
}

/** Returns the findings in the comments of a source, in order. */
export function findingsIn(source: string): Finding[] {
  return commentsIn(source).flatMap(({ text, line }) => messagesFor(text).map((message) => ({ line, message })));
}

/** Returns a message for each rule that a comment or a paragraph breaks, with the words that break it. */
export function messagesFor(comment: string): string[] {
  // Directives are skipped, because they are written for programs.
  if (/^(?:oxlint|eslint|@ts-|hadolint|prettier|oxfmt|\/ <|#(?:end)?region)/.test(comment)) return [];
  const sentences = sentencesIn(comment);
  const messages: string[] = [];
  const [first = ''] = sentences;
  if (OPENING.test(first) && !first.endsWith('?'))
    messages.push(`opens with "${OPENING.exec(first)![0]}": begin with the noun, or with what is done`);
  for (const sentence of sentences) {
    const words = wordsIn(sentence);
    const begin = sentence.split(' ').slice(0, 5).join(' ');
    if (words > MAX_WORDS) messages.push(`${words} words in "${begin} …": at most ${MAX_WORDS}`);
  }
  for (const [metaphor, plain] of METAPHORS) {
    const found = sentences.map((sentence) => metaphor.exec(sentence)?.[0]).find((match) => match !== undefined);
    if (found !== undefined) messages.push(`"${found}" is a metaphor: ${plain}`);
  }
  return messages;
}

function wordsIn(sentence: string): number {
  return sentence.split(/[\s—–/]+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/**
 * Splits a comment into sentences. List items, tags such as `@param` and paragraphs end a sentence. Code, links and
 * addresses become one word; code blocks and table rows are skipped.
 */
export function sentencesIn(comment: string): string[] {
  const plain = comment
    .replaceAll(/```[\s\S]*?(?:```|$)/g, '')
    .replaceAll(/\{@link(?:code|plain)? ([^}]*)\}/g, 'CODE')
    .replaceAll(/`[^`]*`/g, 'CODE')
    .replaceAll(/\bhttps?:\/\/[^\s)>]*[^\s)>.,;:]/g, 'ADDRESS')
    .replaceAll(/^\s*\|.*$/gm, '')
    .replaceAll(/^@(?:param|typeParam|template) (?:\{[^}]*\} )?\S+(?: - )?|^@\w+/gm, '\n\n')
    .replaceAll(/(?<=\S )@(?:returns|throws|see)\b/g, '\n\n')
    .replaceAll(/^\s*(?:[-*•]|\d+[.)]) /gm, '\n\n');
  return plain.split(/\n\s*\n/).flatMap((block) => splitSentences(block.replaceAll(/\s+/g, ' ').trim()));
}

function splitSentences(block: string): string[] {
  const sentences: string[] = [];
  let begin = 0;
  for (const { index, 0: end } of block.matchAll(/[.!?]["')\]”»]*(?= |$)/g)) {
    const sentence = block.slice(begin, index + end.length).trim();
    if (ABBREVIATION.test(sentence)) continue;
    sentences.push(sentence);
    begin = index + end.length;
  }
  const rest = block.slice(begin).trim();
  return rest === '' ? sentences : [...sentences, rest];
}
