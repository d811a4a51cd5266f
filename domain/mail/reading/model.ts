import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { BUCKET_BITS, featuresOf, foldText, tokensOf, wordFeatures, type Token } from './features.ts';

/** Kinds of answers; an opt-out by its force: stop writing, erase my data, a complaint or a threat of law. */
export const LABELS = [
  'stop',
  'erase',
  'legal',
  'negative',
  'positive',
  'not_now',
  'question',
  'referral',
  'out_of_office',
  'automatic',
  'neutral',
] as const;

export type Label = (typeof LABELS)[number];

/** Beginning of the model's file: JSON behind its length (4 bytes, little endian). */
interface ModelHeader {
  bits: number;
  /** Divides the scores, so that a confidence of 0.8 is right in four of five cases. */
  temperature: number;
  bias: number[];
  /** Value of one step of a stored weight, by label. */
  step: number[];
}

/** A linear classifier over hashed features: a weight (int8) of each bucket for each label. */
export interface Model extends ModelHeader {
  weights: Int8Array;
}

/** A text that is read once, for its probabilities and for the words that decided. */
export interface Reading {
  /** Probability (0 to 1) of each label, in the order of {@link LABELS}. */
  probabilities: Float64Array;
  tokens: Token[];
}

/** Different words of a text that are weighed. */
const MOST_WEIGHED = 100;

/** File of the shipped model; `npm run train-reading` writes it. */
export const MODEL_FILE = new URL('model.bin.br', import.meta.url);

let shipped: Model | undefined;

/** The shipped model, read once. */
export function shippedModel(): Model {
  shipped ??= decodeModel(brotliDecompressSync(readFileSync(MODEL_FILE)));
  return shipped;
}

/** @throws Error where the file was made for other features */
export function decodeModel(file: Buffer): Model {
  const length = file.readUInt32LE(0);
  const header = JSON.parse(file.toString('utf8', 4, 4 + length)) as ModelHeader;
  if (header.bits !== BUCKET_BITS) throw new Error('the model was trained with other features: npm run train-reading');
  const start = file.byteOffset + 4 + length;
  return { ...header, weights: new Int8Array(file.buffer, start, (1 << header.bits) * LABELS.length) };
}

/** The uncompressed file of a model ({@link decodeModel}). */
export function encodeModel({ weights, ...header }: Model): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json, Buffer.from(weights.buffer, weights.byteOffset, weights.byteLength)]);
}

/** Reads a text. */
export function readText(text: string, model: Model = shippedModel()): Reading {
  const tokens = tokensOf(foldText(text));
  const features = featuresOf(tokens);
  const scores = Float64Array.from(model.bias);
  const value = 1 / Math.sqrt(features.length || 1);
  for (const feature of features) {
    const at = feature * LABELS.length;
    for (let label = 0; label < LABELS.length; label += 1)
      scores[label]! += model.weights[at + label]! * model.step[label]! * value;
  }
  return { probabilities: softmax(scores, model.temperature), tokens };
}

/** Probabilities from scores, in place. */
export function softmax(scores: Float64Array, temperature = 1): Float64Array {
  const highest = Math.max(...scores);
  let sum = 0;
  for (let at = 0; at < scores.length; at += 1) {
    scores[at] = Math.exp((scores[at]! - highest) / temperature);
    sum += scores[at]!;
  }
  for (let at = 0; at < scores.length; at += 1) scores[at]! /= sum;
  return scores;
}

/** The words of a reading that speak most for some labels, folded, strongest first. */
export function decidingWords(
  { tokens }: Reading,
  labels: readonly Label[],
  most: number,
  model: Model = shippedModel(),
): string[] {
  const places = labels.map((label) => LABELS.indexOf(label));
  const different = new Map(tokens.map((token) => [token.text, token]));
  const weighed = [...different.values()].slice(0, MOST_WEIGHED).map((token) => {
    let weight = 0;
    for (const feature of wordFeatures(token)) {
      const at = feature * LABELS.length;
      let [sum, highest] = [0, -Infinity];
      for (let label = 0; label < LABELS.length; label += 1) sum += model.weights[at + label]! * model.step[label]!;
      for (const place of places) highest = Math.max(highest, model.weights[at + place]! * model.step[place]!);
      weight += highest - sum / LABELS.length;
    }
    return { text: token.text, weight };
  });
  const found = weighed
    .filter(({ weight, text }) => weight > 0 && /\p{L}/u.test(text))
    .toSorted((a, b) => b.weight - a.weight);
  return found.slice(0, most).map(({ text }) => text);
}
