import { fold } from './fold.ts';
import { htmlToPlain } from './html-text.ts';
import { unquotedHtml } from './html-words.ts';
import { stripQuoted } from './quotes.ts';

/** Part of a message that contains the writer's words: the plain text, the HTML, or both with different words. */
export type Form = 'plain' | 'html' | 'both';

/** Maximum length (characters) of a plain text that may consist only of a notice about the HTML part. */
const MAX_NOTICE = 600;
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * Chooses the part of a message to read. Normally both parts have the same content, and the plain text is read, because
 * it marks quotes best. Some systems put only a notice, the first words or a style sheet into the plain text.
 */
export function formOf(plain: string, html: string | null): Form {
  if (html === null) return 'plain';
  const words = withoutStyles(plain);
  if (words.trim() === '') return 'html';
  const inPlain = tokens(words);
  const inHtml = tokens(unquotedHtml(html));
  const lacking = [...inHtml].filter((token) => !inPlain.has(token)).length;
  // Ignores a single word that is missing in the plain text, because it may be a label that occurs only in the HTML.
  if (lacking === 0 || (lacking === 1 && inHtml.size > 3)) return 'plain';
  if (plain.length <= MAX_NOTICE && /(?<![\p{L}.])html(?!\p{L})/iu.test(plain)) return 'html';
  const all = tokens(htmlToPlain(html));
  const only = [...tokens(stripQuoted(words))].filter((token) => !all.has(token)).length;
  return only > 1 ? 'both' : 'html';
}

/** Removes style sheet rules from a text, including the line on which each begins. */
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
