/** Exponent of the number of buckets that features are hashed into. */
export const BUCKET_BITS = 19;
const BUCKET_MASK = (1 << BUCKET_BITS) - 1;

/** Characters of a text that are read: an answer that is longer says what it wants at its beginning. */
export const MAX_CHARACTERS = 3_000;
/** Letters of a word that its n-grams are taken of. */
const MAX_WORD = 40;
/** Sizes of n-grams: of words with their ends, and of scripts that write no spaces between words. */
const SPACED = { from: 2, to: 5 };
const DENSE = { from: 1, to: 4 };

const DENSE_SCRIPT = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/** Marks that people leave out: of Latin, Greek, Cyrillic, Hebrew and Arabic letters. Marks of Indic and Thai letters are vowels. */
const OPTIONAL_MARKS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g;
const TOKEN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+|[\p{Script=Thai}]+|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{M}\p{N}])+(?:'(?:(?![\p{Script=Han}\p{Script=Thai}])[\p{L}\p{M}])+)*|[?!;]/gu;
/** Letters that are written in more than one way. */
const SAME_LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  ł: 'l',
  đ: 'd',
  ø: 'o',
  æ: 'ae',
  ı: 'i',
  ς: 'σ',
  أ: 'ا',
  إ: 'ا',
  آ: 'ا',
  ٱ: 'ا',
  ى: 'ي',
  ة: 'ه',
  '？': '?',
  '！': '!',
  '؟': '?',
};
const MANY_FORMS = new RegExp(`[${Object.keys(SAME_LETTERS).join('')}]`, 'g');

/** A word of a text, and its position in the text that was folded. */
export interface Token {
  text: string;
  start: number;
  end: number;
}

/**
 * Folds a text for reading: one form of each letter, small, without the marks that people leave out. An address, a link and a number each become one word.
 * The length may change.
 */
export function foldText(text: string): string {
  return text
    .slice(0, MAX_CHARACTERS)
    .normalize('NFKD')
    .replace(OPTIONAL_MARKS, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/https?:\/\/\S{1,500}|www\.\S{1,500}/g, ' urlurl ')
    .replace(/[^\s@<>()"']{1,64}@[^\s@<>()"']{1,100}\.[^\s@<>()"'.,;]{2,24}/g, ' mailmail ')
    .replace(/\p{N}{1,20}/gu, '0')
    .replace(/[’‘ʼ´`]/g, "'")
    .replace(MANY_FORMS, (letter) => SAME_LETTERS[letter]!)
    .replace(/[ـ\u200b-\u200f\u2060\ufeff\u00ad]/g, '');
}

/** Words of a folded text, in their order; marks of questions and exclamations are words. */
export function tokensOf(folded: string): Token[] {
  return [...folded.matchAll(TOKEN)].map(({ 0: text, index }) => ({ text, start: index, end: index + text.length }));
}

/** Buckets of a word alone: the word itself, and its n-grams of 2 to 5 characters. */
export function wordFeatures({ text }: Token): number[] {
  const found = [bucketOf(text, 0, text.length, 'w')];
  const dense = DENSE_SCRIPT.test(text);
  const padded = dense ? text : `<${text.slice(0, MAX_WORD)}>`;
  const { from, to } = dense ? DENSE : SPACED;
  for (let at = 0; at < padded.length; at += 1) {
    let hash = START ^ 0x63;
    for (let size = 1; size <= to && at + size <= padded.length; size += 1) {
      hash = Math.imul(hash ^ padded.charCodeAt(at + size - 1), PRIME);
      if (size >= from) found.push(mixed(hash));
    }
  }
  return found;
}

/**
 * Buckets of the features of a text, each once: of its words, of words that follow each other, of its first and last word, and of its length.
 * @param tokens of the text ({@link tokensOf})
 */
export function featuresOf(tokens: readonly Token[]): Int32Array {
  const found = new Set<number>();
  for (const [index, token] of tokens.entries()) {
    for (const one of wordFeatures(token)) found.add(one);
    const [before, first] = [tokens[index - 1], tokens[index - 2]];
    if (before) found.add(pair(before.text, token.text, 'b'));
    if (!first || !before) continue;
    found.add(pair(`${first.text} ${before.text}`, token.text, 't'));
    found.add(pair(first.text, token.text, 's'));
  }
  const [first, last] = [tokens[0], tokens.at(-1)];
  if (first) found.add(bucketOf(first.text, 0, first.text.length, 'a'));
  if (last) found.add(bucketOf(last.text, 0, last.text.length, 'e'));
  const size = String(Math.min(6, Math.floor(Math.log2(tokens.length + 1))));
  found.add(bucketOf(size, 0, size.length, 'l'));
  return Int32Array.from(found);
}

/** FNV-1a over UTF-16 units, mixed once more at the end. */
const START = 0x811c9dc5;
const PRIME = 0x01000193;

function bucketOf(text: string, from: number, to: number, kind: string): number {
  let hash = START ^ kind.charCodeAt(0);
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return mixed(hash);
}

function pair(one: string, other: string, kind: string): number {
  const text = `${one} ${other}`;
  return bucketOf(text, 0, text.length, kind);
}

function mixed(hash: number): number {
  let value = hash ^ (hash >>> 15);
  value = Math.imul(value, 0x2c1b3c6d);
  return (value ^ (value >>> 12)) & BUCKET_MASK;
}
