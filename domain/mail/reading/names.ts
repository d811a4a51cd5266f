import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

/** A person or office that an answer names: whom to write to instead, or who stands in. */
export interface NamedPerson {
  /** As it stands in the text, without address; null where only an address is given. */
  name: string | null;
  address: string | null;
}

/** A linear classifier of words: a weight (int8) of each bucket, their step, and the bias. */
export interface NameModel {
  bias: number;
  step: number;
  weights: Int8Array;
}

/** A word of a text, or a character of a script that writes no spaces. */
interface NameToken {
  /** In lower case. */
  word: string;
  /** Class: capitalized, number, address. */
  form: string;
  start: number;
  end: number;
}

/** Exponent of the number of buckets. */
export const NAME_BITS = 17;
export const NAMES_FILE = new URL('names.bin.br', import.meta.url);
const MASK = (1 << NAME_BITS) - 1;
const MAX_READ = 400;
const HEADER = 16;
const ADDRESS = /[^\s@<>()"',;:]{1,64}@[^\s@<>()"',;:]{1,100}\.[^\s@<>()"'.,;:]{2,24}/u;
const TOKEN =
  /[^\s@<>()"',;:]{1,64}@[^\s@<>()"',;:]{1,100}\.[^\s@<>()"'.,;:]{2,24}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}]+(?:['’.-][\p{L}\p{M}\p{N}]+)*|\n|[^\s\p{L}\p{N}]/gu;
const DENSE = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{M}]+$/u;
const EDGES = /^[\s,.;:()<>[\]–-]+|[\s,;:()<>[\]–-]+$/gu;

let shipped: NameModel | undefined;

/** The shipped model, read once. */
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

/** The uncompressed file of a model. */
export function encodeNames({ bias, step, weights }: NameModel): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeDoubleLE(bias, 0);
  header.writeDoubleLE(step, 8);
  return Buffer.concat([header, Buffer.from(weights.buffer, weights.byteOffset, weights.byteLength)]);
}

/** Words of a text in their order, and its marks and line breaks. */
export function nameTokens(text: string): NameToken[] {
  return Array.from(text.slice(0, MAX_READ).matchAll(TOKEN), ({ 0: word, index }) => ({
    word: word.toLowerCase(),
    form: formOf(word),
    start: index,
    end: index + word.length,
  }));
}

/** Buckets of the features of a word: itself, its form, and the words around it. */
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

/** FNV-1a over UTF-16 units, mixed once more at the end. */
function bucketOf(feature: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < feature.length; at += 1) hash = Math.imul(hash ^ feature.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 12)) & MASK;
}

/** The person whom a referral or an away note names; null where it names none. */
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
  const name = said.replace(ADDRESS, '').replace(EDGES, '').replace(EDGES, '');
  if (/\p{L}/u.test(name)) return { name, address };
  return address === null ? null : { name: null, address };
}
