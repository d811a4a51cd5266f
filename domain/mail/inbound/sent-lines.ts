import { fold } from './fold.ts';

/** Minimum length (characters after folding) of a text that is recognized as copied from our email. */
const MIN_MATCH = 16;
/** Variant of {@link MIN_MATCH} for scripts without spaces, whose characters carry more information. */
const MIN_DENSE_MATCH = 6;
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/**
 * Minimum length (characters after folding) of the end of a wrapped line that is recognized as copied from our email.
 */
const MIN_PART = 8;
const MAX_SENT = 64 * 1024;

/**
 * Removes the lines of a reply that repeat text, footer or links of our emails, at any place and with any wrapping. A
 * short line ("Best,") is removed only directly after lines of our email, and a greeting only directly before them,
 * because a person may write the same words.
 * @param sent texts of our emails to this person, with footer and signature
 */
export function withoutSentText(text: string, sent: readonly string[]): string {
  if (text === '' || sent.length === 0) return text;
  const ours = ` ${words(sent.join('\n').slice(0, MAX_SENT))} `;
  const shortOnes = new Set(sent.flatMap((each) => each.split('\n', 2000)).map((line) => words(line)));
  const greetings = new Set(sent.map((each) => words(each.trimStart().split('\n', 1)[0] ?? '')));
  const lines = text.split('\n');
  const marks = lines.map((line): Mark => {
    const said = words(line.replace(/^[>\s]+/, ''));
    if (said === '') return line.trim() === '' ? 'blank' : isLinkOnly(line) ? 'short' : 'own';
    const enough = DENSE.test(said) ? MIN_DENSE_MATCH : MIN_MATCH;
    if (said.length >= enough && ours.includes(` ${said} `)) return 'ours';
    const isPart = said.length >= MIN_PART && said.includes(' ') && ours.includes(` ${said} `);
    if (greetings.has(said)) return 'greeting';
    return isPart || shortOnes.has(said) ? 'short' : 'own';
  });
  const kept = lines.filter((_, at) => {
    if (marks[at] === 'ours') return false;
    if (marks[at] === 'greeting') return !neighbour(marks, at, 1);
    return marks[at] !== 'short' || !neighbour(marks, at, -1);
  });
  return kept
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Author of a line. `short` and `greeting` lines belong to our email if they are next to other lines of it. */
type Mark = 'ours' | 'short' | 'greeting' | 'blank' | 'own';

/** Returns true if the nearest line that is neither blank nor short belongs to our email. Checks only a few lines. */
function neighbour(marks: readonly string[], from: number, step: 1 | -1): boolean {
  for (let at = from + step, seen = 0; at >= 0 && at < marks.length && seen < 6; at += step, seen += 1) {
    if (marks[at] === 'ours') return true;
    if (marks[at] === 'own') return false;
  }
  return false;
}

function isLinkOnly(line: string): boolean {
  return /^[<(\s]*https?:\/\/\S+(?:\s[>)\s]*)?$/.test(line);
}

/**
 * Returns the folded letters and digits of a text without links. The result is the same however a mail program wraps or
 * quotes the text.
 */
function words(text: string): string {
  return fold(text.replace(/<?https?:\/\/[^\s>]+>?/g, ' '))
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
