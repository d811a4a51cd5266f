import { fold } from './fold.ts';
import { htmlToPlain } from './html-text.ts';
import { unquotedHtml } from './html-words.ts';
import { stripQuoted } from './quotes.ts';

/** Which forms of a message have its writer's words: the plain text, the HTML, or both, each words of its own. */
export type Form = 'plain' | 'html' | 'both';

/** Longest plain part (characters) that only says that the message is in HTML. */
const MAX_NOTICE = 600;
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * Compares the two forms of a message. They should say the same, and then the plain text is read, whose quotes are marked
 * best. Some systems leave a notice, the first words or a style sheet there.
 */
export function formOf(plain: string, html: string | null): Form {
  if (html === null) return 'plain';
  const words = withoutStyles(plain);
  if (words.trim() === '') return 'html';
  const inPlain = tokens(words);
  const inHtml = tokens(unquotedHtml(html));
  const lacking = [...inHtml].filter((token) => !inPlain.has(token)).length;
  // One word may be a label that only one of the forms has.
  if (lacking === 0 || (lacking === 1 && inHtml.size > 3)) return 'plain';
  if (plain.length <= MAX_NOTICE && /(?<![\p{L}.])html(?!\p{L})/iu.test(plain)) return 'html';
  const all = tokens(htmlToPlain(html));
  const only = [...tokens(stripQuoted(words))].filter((token) => !all.has(token)).length;
  return only > 1 ? 'both' : 'html';
}

/** A text without the rules of style sheets, each with the line on which it begins. */
function withoutStyles(text: string): string {
  const pieces = text.split('}');
  const last = pieces.pop() ?? '';
  const kept = pieces.map((piece) => {
    const open = piece.indexOf('{');
    return open >= 0 && /[:;]/.test(piece.slice(open)) ? piece.slice(0, piece.lastIndexOf('\n', open) + 1) : piece;
  });
  return [...kept, last].join('\n');
}

function tokens(text: string): Set<string> {
  const found = new Set<string>();
  for (const [word] of fold(text.replace(/<?https?:\/\/[^\s>]+>?/g, ' ')).matchAll(/[\p{L}\p{N}]+/gu)) {
    if (DENSE.test(word)) for (const character of word) found.add(character);
    else found.add(word);
  }
  return found;
}
