/** Part of a text, with a flag that is true for a searched word. */
interface Part {
  text: string;
  isMarked: boolean;
}

/** Matches a character of a word. Some scripts write no spaces between words, so their characters are excluded. */
const LETTER = '(?![\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}])[\\p{L}\\p{N}]';

/** Splits a text at the searched words, ignoring case, so that they can be highlighted. Only whole words match. */
export function splitMarked(text: string, words: readonly string[]): Part[] {
  const escaped = words.filter((word) => word !== '').map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  if (escaped.length === 0) return [{ text, isMarked: false }];
  const pattern = new RegExp(`(?<!${LETTER})(${escaped.join('|')})(?!${LETTER})`, 'giu');
  return text.split(pattern).flatMap((part, at) => (part === '' ? [] : [{ text: part, isMarked: at % 2 === 1 }]));
}
