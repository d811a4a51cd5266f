/** Exponent of the number of buckets that features are hashed into. */
export const BUCKET_BITS = 20;
const BUCKET_MASK = (1 << BUCKET_BITS) - 1;

/** Maximum number of characters read. A longer answer states its purpose at the beginning. */
export const MAX_CHARACTERS = 3_000;
/** Maximum length (characters) of the part of a word that is split into n-grams. */
const MAX_WORD = 40;
/** Sizes of n-grams: of words with their boundaries, and of scripts without spaces between words. */
const SPACED = { from: 2, to: 5 };
const DENSE = { from: 1, to: 4 };
/**
 * Length of the word beginning that represents all forms of a word, and distance (words) within which word order is
 * ignored.
 */
const STEM = 4;
const NEAR = 3;

const DENSE_SCRIPT = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/** Optional diacritics of Latin, Greek, Cyrillic, Hebrew and Arabic. Indic and Thai marks are vowels and are kept. */
const OPTIONAL_MARKS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g;
const TOKEN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+|[\p{Script=Thai}]+|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{M}\p{N}])+(?:'(?:(?![\p{Script=Han}\p{Script=Thai}])[\p{L}\p{M}])+)*|[?!;]/gu;
/** Characters that are written in several ways. */
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

/** A word, with its position in the folded text. */
export interface Token {
  text: string;
  start: number;
  end: number;
}

/**
 * Folds a text for the model: one form of each letter, lower case, without optional marks. An address, a link and a
 * number each become one word. The length may change.
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

/** Returns the words of a folded text in order. Question and exclamation marks count as words. */
export function tokensOf(folded: string): Token[] {
  return [...folded.matchAll(TOKEN)].map(({ 0: text, index }) => ({ text, start: index, end: index + text.length }));
}

/** Returns the buckets of a single word: the word itself, and its n-grams of 2 to 5 characters. */
export function wordFeatures({ text }: Token): number[] {
  const found = [mixed(hashOf(text, text.length))];
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
 * Returns the distinct feature buckets of a text: words, consecutive words, and nearby word beginnings in any order.
 * The first word, the last word and the length have buckets too.
 * @param tokens words of the text ({@link tokensOf})
 */
export function featuresOf(tokens: readonly Token[]): Int32Array {
  const found = new Set<number>();
  const words = tokens.map(({ text }) => hashOf(text, text.length));
  // The beginning of a word represents all its forms.
  const stems = tokens.map(({ text }) => hashOf(text, DENSE_SCRIPT.test(text) ? text.length : STEM));
  for (const [index, token] of tokens.entries()) {
    for (const one of wordFeatures(token)) found.add(one);
    const [word, stem] = [words[index]!, stems[index]!];
    for (let back = 1; back <= NEAR && back <= index; back += 1) {
      const other = stems[index - back]!;
      found.add(other < stem ? joined(other, stem, 1) : joined(stem, other, 1));
    }
    if (index === 0) continue;
    found.add(joined(words[index - 1]!, word, 2));
    found.add(joined(stems[index - 1]!, stem, 3));
    if (index === 1) continue;
    found.add(joined(words[index - 2]!, word, 4));
    found.add(joined(stems[index - 2]!, stem, 5));
    found.add(joined(joined(words[index - 2]!, words[index - 1]!, 6), word, 6));
    found.add(joined(joined(stems[index - 2]!, stems[index - 1]!, 7), stem, 7));
  }
  if (words.length > 0) {
    found.add(joined(words[0]!, 0, 8));
    found.add(joined(words.at(-1)!, 0, 9));
  }
  found.add(joined(Math.min(6, Math.floor(Math.log2(tokens.length + 1))), 0, 10));
  return Int32Array.from(found);
}

/** Constants of FNV-1a over UTF-16 code units. The result is mixed once more at the end. */
const START = 0x811c9dc5;
const PRIME = 0x01000193;

/** Returns the hash of the beginning of a word. */
function hashOf(text: string, length: number): number {
  let hash = START ^ 0x77;
  for (let at = 0; at < length && at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return hash;
}

/** Returns the bucket of a pair of words. */
function joined(one: number, other: number, kind: number): number {
  return mixed(Math.imul(Math.imul(one ^ kind, PRIME) ^ (one >>> 13) ^ other, PRIME) + kind);
}

function mixed(hash: number): number {
  let value = hash ^ (hash >>> 15);
  value = Math.imul(value, 0x2c1b3c6d);
  return (value ^ (value >>> 12)) & BUCKET_MASK;
}
