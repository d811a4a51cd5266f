import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

/** A person or office that an answer names as the right contact or as a stand-in. */
export interface NamedPerson {
  /** Name as in the text, without address. Null if the text contains only an address. */
  name: string | null;
  address: string | null;
}

/** A linear classifier of words: one weight (int8) per bucket, the factor of the weights, and the bias. */
export interface NameModel {
  bias: number;
  step: number;
  weights: Int8Array;
}

/** A word of a text, or a character of a script without spaces. */
interface NameToken {
  /** The word in lower case. */
  word: string;
  /** Class of the word, such as capitalized word, number or address. */
  form: string;
  start: number;
  end: number;
}

/** Number of bits of a feature's bucket, as in `BUCKET_BITS`. */
export const NAME_BITS = 17;
export const NAMES_FILE = new URL('names.bin.br', import.meta.url);
const MASK = (1 << NAME_BITS) - 1;
const MAX_READ = 400;
const HEADER = 16;
const ADDRESS = /[^\s@<>()"',;:]{1,64}@[^\s@<>()"',;:]{1,100}\.[^\s@<>()"'.,;:]{2,24}/u;
const TOKEN =
  /[^\s@<>()"',;:]{1,64}@[^\s@<>()"',;:]{1,100}\.[^\s@<>()"'.,;:]{2,24}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}]+(?:['’.-][\p{L}\p{M}\p{N}]+)*|\n|[^\s\p{L}\p{N}]/gu;
const DENSE = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{M}]+$/u;
/** Matches lower-case words before a first and a last name, such as a job title (`buyer Maria Lopez`). */
const BEFORE_NAME = /^(?:\p{Ll}[\p{L}’'-]*\s+)+(?=\p{Lu}\S*\s+\p{Lu})/u;
const EDGES = /^[\s,.;:()<>[\]–-]+|[\s,;:()<>[\]–-]+$/gu;

let shipped: NameModel | undefined;

/** Returns the shipped model, loaded on the first call. */
function shippedModel(): NameModel {
  if (shipped) return shipped;
  const file = brotliDecompressSync(readFileSync(NAMES_FILE));
  shipped = {
    bias: file.readDoubleLE(0),
    step: file.readDoubleLE(8),
    weights: new Int8Array(file.buffer, file.byteOffset + HEADER, 1 << NAME_BITS),
  };
  return shipped;
}

/** Encodes a model as an uncompressed file. */
export function encodeNames({ bias, step, weights }: NameModel): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeDoubleLE(bias, 0);
  header.writeDoubleLE(step, 8);
  return Buffer.concat([header, Buffer.from(weights.buffer, weights.byteOffset, weights.byteLength)]);
}

/** Returns the words, punctuation marks and line breaks of a text, in order. */
export function nameTokens(text: string): NameToken[] {
  return Array.from(text.slice(0, MAX_READ).matchAll(TOKEN), ({ 0: word, index }) => ({
    word: word.toLowerCase(),
    form: formOf(word),
    start: index,
    end: index + word.length,
  }));
}

/** Returns the feature buckets of a word: itself, its form, and the words around it. */
export function nameFeatures(tokens: readonly NameToken[], at: number): number[] {
  const word = (step: number): string => tokens[at + step]?.word ?? '';
  const form = (step: number): string => tokens[at + step]?.form ?? '';
  const own = word(0);
  return [
    `w${own}`,
    `f${form(0)}`,
    `p${own.slice(0, 3)}`,
    `s${own.slice(-3)}`,
    `1${word(-1)}`,
    `2${word(-2)}`,
    `3${word(1)}`,
    `4${word(2)}`,
    `5${word(-1)} ${form(0)}`,
    `6${form(0)} ${word(1)}`,
    `7${form(-1)} ${form(0)} ${form(1)}`,
    `8${word(-2)} ${word(-1)} ${form(0)}`,
    `9${form(-2)} ${form(-1)} ${form(0)}`,
    `a${word(-1)} ${own}`,
    `b${own} ${word(1)}`,
    `c${word(-3)} ${form(0)}`,
    `d${word(1)} ${word(2)} ${form(0)}`,
  ].map(bucketOf);
}

function formOf(word: string): string {
  if (word === '') return '';
  if (word.includes('@')) return '@';
  if (DENSE.test(word)) return 'd';
  if (/^\p{N}/u.test(word)) return '0';
  if (!/^\p{L}/u.test(word)) return word;
  const isUpper = /^\p{Lu}/u.test(word);
  return isUpper ? (word.length > 1 && word === word.toUpperCase() ? 'XX' : 'Xx') : word.length < 4 ? 'x' : 'xx';
}

/** Returns the bucket of a feature: its FNV-1a hash over UTF-16 code units, mixed once more at the end. */
function bucketOf(feature: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < feature.length; at += 1) hash = Math.imul(hash ^ feature.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) & MASK;
}

/** Returns the person named by a referral or an away note. Null if the text names none. */
export function namedPerson(text: string, model: NameModel = shippedModel()): NamedPerson | null {
  const tokens = nameTokens(text);
  const scores = tokens.map((_, at) =>
    nameFeatures(tokens, at).reduce((sum, feature) => sum + model.weights[feature]! * model.step, model.bias),
  );
  let best = { from: 0, to: -1, score: 0 };
  let [from, score] = [0, 0];
  for (const [at, one] of scores.entries()) {
    if (score <= 0) [from, score] = [at, 0];
    score += one;
    if (score > best.score) best = { from, to: at, score };
  }
  const said = best.score > 0 ? text.slice(tokens[best.from]!.start, tokens[best.to]!.end) : '';
  const address = (ADDRESS.exec(said) ?? ADDRESS.exec(text))?.[0]?.toLowerCase() ?? null;
  const name = said.replace(ADDRESS, '').replace(EDGES, '').replace(EDGES, '').replace(BEFORE_NAME, '');
  if (/\p{L}/u.test(name)) return { name, address };
  return address === null ? null : { name: null, address };
}
