import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { bucketsOf, rowOf, type Buckets } from './buckets.ts';
import { BUCKET_BITS, featuresOf, foldText, tokensOf, wordFeatures, type Token } from './features.ts';
import { activate, decodeNetwork, encodeNetwork, outputOf, placesOf, type Network } from './network.ts';

/** Kinds of answers. An opt-out has a subtype: stop writing, erase my data, a complaint or legal threat. */
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

/** Header of the model's file: JSON, preceded by its length (4 bytes, little endian). */
interface ModelHeader {
  bits: number;
  /**
   * Divisor of the scores before they become probabilities. It is chosen so that of the results with a confidence of
   * 0.8, four of five are correct.
   */
  temperature: number;
  bias: number[];
  /** Factor that converts the stored integers to weights, by label. */
  step: number[];
}

/**
 * A linear classifier over hashed features, with one weight (int8) per label and bucket. Only buckets with training
 * texts of several people have weights, so a word unknown to the training is ignored.
 */
export interface Model extends ModelHeader {
  known: Buckets;
  weights: Int8Array;
  /** Neural network whose scores are added to those of the linear classifier. */
  network: Network;
}

/** Result of reading a text: the probabilities and the words that the result depends on. */
export interface Reading {
  /** Probability (0 to 1) of each label, in the order of {@link LABELS}. */
  probabilities: Float64Array;
  tokens: Token[];
}

/** Factors for the scores of the linear classifier and of the network, chosen by people during calibration. */
const SHARES = { linear: 0.6, network: 0.25 };
/** Maximum number of different words of a text whose contribution to the result is computed. */
const MOST_WEIGHED = 100;

/** File of the shipped model, written by `npm run train-reading`. */
export const MODEL_FILE = new URL('model.bin.br', import.meta.url);

let shipped: Model | undefined;

/** Returns the shipped model, loaded on the first call. */
export function shippedModel(): Model {
  shipped ??= decodeModel(brotliDecompressSync(readFileSync(MODEL_FILE)));
  return shipped;
}

/**
 * Decodes a model file.
 * @throws Error if the file was created for other features
 */
export function decodeModel(file: Buffer): Model {
  const length = file.readUInt32LE(0);
  const header = JSON.parse(file.toString('utf8', 4, 4 + length)) as ModelHeader;
  if (header.bits !== BUCKET_BITS) throw new Error('the model was trained with other features: npm run train-reading');
  const start = 4 + length;
  const end = start + 2 ** header.bits / 8;
  const known = bucketsOf(new Uint32Array(Uint8Array.from(file.subarray(start, end)).buffer));
  const size = known.size * LABELS.length;
  const network = decodeNetwork(file.subarray(end + size));
  return { ...header, known, weights: new Int8Array(file.buffer, file.byteOffset + end, size), network };
}

/** Encodes a model as an uncompressed file ({@link decodeModel}). */
export function encodeModel({ weights, known, network, ...header }: Model): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  return Buffer.concat([length, json, bytesOf(known.bits), bytesOf(weights), encodeNetwork(network)]);
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Int8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Computes the probability of each label for a text. */
export function readText(text: string, model: Model = shippedModel()): Reading {
  const tokens = tokensOf(foldText(text));
  const scores = linearScores(tokens, model);
  const { network } = model;
  const others = outputOf(network, activate(network, placesOf(tokens, network.known)).pooled);
  return { probabilities: softmax(combined(scores, others), model.temperature), tokens };
}

function linearScores(tokens: readonly Token[], { bias, known, weights, step }: Omit<Model, 'network'>): Float64Array {
  const features = featuresOf(tokens);
  const scores = Float64Array.from(bias);
  const value = 1 / Math.sqrt(features.length || 1);
  for (const feature of features) {
    const at = rowOf(known, feature) * LABELS.length;
    if (at < 0) continue;
    for (let label = 0; label < LABELS.length; label += 1)
      scores[label]! += weights[at + label]! * step[label]! * value;
  }
  return scores;
}

/** Combines the scores of the linear classifier with those of the network. */
export function combined(linear: Float64Array, network: Float64Array): Float64Array {
  return linear.map((score, label) => SHARES.linear * score + SHARES.network * network[label]!);
}

/** Converts scores to probabilities, in place. */
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

/** Returns the folded words of a text that contribute most to the given labels, strongest first. */
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
      const at = rowOf(model.known, feature) * LABELS.length;
      if (at < 0) continue;
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
