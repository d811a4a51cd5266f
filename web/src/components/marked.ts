/** A piece of a text, and whether it is one of the words that are looked for. */
interface Part {
  text: string;
  isMarked: boolean;
}

/** A character of a word; some scripts write no spaces between words, so that their words have no edges. */
const LETTER = '(?![\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}])[\\p{L}\\p{N}]';

/** Cuts a text at whole words, in any case, so that these can be shown otherwise. */
export function splitMarked(text: string, words: readonly string[]): Part[] {
  const escaped = words.filter((word) => word !== '').map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  if (escaped.length === 0) return [{ text, isMarked: false }];
  const pattern = new RegExp(`(?<!${LETTER})(${escaped.join('|')})(?!${LETTER})`, 'giu');
  return text.split(pattern).flatMap((part, at) => (part === '' ? [] : [{ text: part, isMarked: at % 2 === 1 }]));
}
