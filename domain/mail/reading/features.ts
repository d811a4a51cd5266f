/** Number of bits of a feature's bucket: features are hashed into 2^24 buckets. */
export const BUCKET_BITS = 24;
const BUCKET_MASK = 2 ** BUCKET_BITS - 1;

/** Maximum number of characters read. The beginning is sufficient, because answers state their purpose there. */
export const MAX_CHARACTERS = 3_000;
/** Maximum length (characters) of the part of a word that is split into n-grams. */
const MAX_WORD = 40;
/** Sizes of n-grams: first of words with their boundaries, then of scripts without spaces between words. */
const SPACED = { from: 2, to: 6 };
const DENSE = { from: 1, to: 5 };
/**
 * Sizes of n-grams that cross the boundaries of words, and the number of characters of the text from which they are
 * made.
 */
const ACROSS = [6, 8];
const ACROSS_READ = 600;
/** Length (characters) of the word beginning that represents all forms of the word. */
const STEM = 4;
const SHORT_STEM = 3;
/** Distances (words) within which two word beginnings form a pair, regardless of their order. */
const NEAR = 3;
const FAR = 6;
/**
 * Gaps (characters) between two pairs of characters of a script without spaces between words, and the maximum length
 * (characters) of text that is paired.
 */
const GAPS = { from: 2, to: 7 };
const PAIRED = 200;
/** Sizes of the n-grams that begin at a character of a script without spaces between words. */
const STARTING = [1, 2, 3, 4];

const DENSE_SCRIPT = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/** Matches a line break within a sentence of a script without spaces. */
const WRAP =
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])\r?\n(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/gu;
/** Optional diacritics of Latin, Greek, Cyrillic, Hebrew and Arabic. Indic and Thai marks are vowels and are kept. */
const OPTIONAL_MARKS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g;
const TOKEN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+|[\p{Script=Thai}]+|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{M}\p{N}])+(?:'(?:(?![\p{Script=Han}\p{Script=Thai}])[\p{L}\p{M}])+)*|[?!;]/gu;
/** Characters with several spellings, each with the spelling used for the model. */
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
    .replace(WRAP, '')
    .replace(/https?:\/\/\S{1,500}|www\.\S{1,500}/g, ' urlurl ')
    .replace(/[^\s@<>()"']{1,64}@[^\s@<>()"']{1,100}\.[^\s@<>()"'.,;]{2,24}/g, ' mailmail ')
    .replace(/\p{N}{1,20}/gu, '0')
    .replace(/[’‘ʼ´`]/g, "'")
    .replace(MANY_FORMS, (letter) => SAME_LETTERS[letter]!)
    .replace(/[ـ\u200b-\u200f\u2060\ufeff\u00ad]/g, '');
}

/** Returns the words of a folded text in order. Question and exclamation marks are returned as words. */
export function tokensOf(folded: string): Token[] {
  return [...folded.matchAll(TOKEN)].map(({ 0: text, index }) => ({ text, start: index, end: index + text.length }));
}

/** Returns the buckets of a single word: the word itself, and its n-grams of 2 to 6 characters. */
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
 * Returns the buckets of each character of a word of a script without spaces: n-grams that begin at the character.
 * Undefined for a word of another script.
 */
export function characterFeatures({ text }: Token): number[][] | undefined {
  if (!DENSE_SCRIPT.test(text)) return undefined;
  return Array.from(text, (_, at) =>
    STARTING.filter((size) => at + size <= text.length).map((size) =>
      joined(hashOf(text.slice(at, at + size), size), size, 16),
    ),
  );
}

/**
 * Returns the distinct feature buckets of a text. The features are words, consecutive words, nearby word beginnings in
 * any order, and n-grams of characters, also across words. Further features are pairs of characters in scripts without
 * spaces, the first and last word, and the length.
 * @param tokens words of the text ({@link tokensOf})
 */
export function featuresOf(tokens: readonly Token[]): Int32Array {
  const found = new Set<number>();
  const words = tokens.map(({ text }) => hashOf(text, text.length));
  const dense = tokens.map(({ text }) => DENSE_SCRIPT.test(text));
  const stemsOf = (length: number): number[] =>
    tokens.map(({ text }, index) => hashOf(text, dense[index] ? text.length : length));
  const stems = stemsOf(STEM);
  const shorts = stemsOf(SHORT_STEM);
  for (const [index, token] of tokens.entries()) {
    for (const one of wordFeatures(token)) found.add(one);
    if (dense[index]) for (const one of pairedCharacters(token.text)) found.add(one);
    const [word, stem] = [words[index]!, stems[index]!];
    for (let back = 1; back <= FAR && back <= index; back += 1) {
      const other = stems[index - back]!;
      const kind = back <= NEAR ? 1 : 12;
      found.add(other < stem ? joined(other, stem, kind) : joined(stem, other, kind));
    }
    if (index === 0) continue;
    found.add(joined(words[index - 1]!, word, 2));
    found.add(joined(stems[index - 1]!, stem, 3));
    found.add(joined(shorts[index - 1]!, shorts[index]!, 13));
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
  for (const one of acrossWords(tokens)) found.add(one);
  return Int32Array.from(found);
}

/** Returns the buckets of features that combine two pairs of adjacent characters near each other. */
function pairedCharacters(text: string): number[] {
  const found: number[] = [];
  const read = text.slice(0, PAIRED);
  const pairs = Array.from(read.slice(1), (_, at) => hashOf(read.slice(at, at + 2), 2));
  for (const [at, pair] of pairs.entries())
    for (let gap = GAPS.from; gap <= GAPS.to && at + gap < pairs.length; gap += 1)
      found.push(joined(pair, pairs[at + gap]!, 14));
  return found;
}

/** Returns the buckets of n-grams that contain the boundary of two words. */
function acrossWords(tokens: readonly Token[]): number[] {
  const text = tokens
    .map((token) => token.text)
    .join(' ')
    .slice(0, ACROSS_READ);
  return ACROSS.flatMap((size) => {
    const found: number[] = [];
    for (let at = 0; at + size <= text.length; at += 1) {
      const space = text.indexOf(' ', at + 1);
      if (space < 0) break;
      if (space < at + size - 1) found.push(joined(hashOf(text.slice(at, at + size), size), size, 15));
    }
    return found;
  });
}

/**
 * Constants of the hash FNV-1a over UTF-16 code units. The result is mixed once more at the end, because similar texts
 * have similar hashes.
 */
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
  value = Math.imul(value ^ (value >>> 12), 0x297a2d39);
  return (value ^ (value >>> 15)) & BUCKET_MASK;
}
