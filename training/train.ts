import { setImmediate } from 'node:timers/promises';
import { bucketsOf, rowOf, type Buckets } from '../domain/mail/reading/buckets.ts';
import { BUCKET_BITS, featuresOf, foldText, tokensOf } from '../domain/mail/reading/features.ts';
import { combined, LABELS, softmax, type Label, type Model } from '../domain/mail/reading/model.ts';
import { activate, outputOf, placesOf, type Network } from '../domain/mail/reading/network.ts';
import { runInThread } from '../lib/thread.ts';
import { LANGUAGES, madeSentences, type Sentence } from './corpus.ts';
import { seeded, type Random } from '../test/faults/random.ts';
import type { NetworkTask } from './network-thread.ts';
import { quantizedNetwork } from './network.ts';
import { shuffled } from './shuffled.ts';
import { latinized, mistyped } from './variants.ts';

const COUNT = LABELS.length;
/** AdaGrad: the first step. A third epoch helps no other person, and one alone leaves plain refusals unlearned. */
const RATE = 0.5;
const EPOCHS = 2;
const BIAS_RATE = 0.01;
/** A made sentence says less about people than one that was written. */
const MADE_WEIGHT = 0.3;
/** Few sentences use the words of opting out in another sense. */
const CONTRAST_WEIGHT = 3;
/** Made sentences of each language. */
const MADE = { opt_out: 500, other: 120 };
/** Part of the written sentences that is learned with typing mistakes too, or in the Latin script, and the weight of that. */
const MISTYPED = 0.25;
const LATINIZED = 0.15;
const VARIANT_WEIGHT = 0.5;
/** Number of people, or of made sentences, who must use a feature before it gets weights. */
const MIN_USERS = 2;
/** Weight of one step of the stored integers. */
const STEP = 0.25;
const INT8_MAX = 127;
/** A bucket is stored if one of its weights has more steps. The other buckets, an eighth of the file, change 0.7 % of opt-outs. */
const SMALL_STEPS = 2;

interface Weights {
  values: Float32Array;
  /** Sum of squared slopes of each weight. */
  squares: Float32Array;
  bias: Float64Array;
}

interface Lesson {
  /** Buckets of the features; rows of their weights after {@link toRows}. */
  features: Int32Array;
  /** Divides the influence of each feature: the square root of their number. */
  size: number;
  label: number;
  weight: number;
  /** Number of the person; a made sentence counts as one. */
  user: number;
  /** True for a sentence with typing mistakes or in the Latin script. */
  isVariant?: boolean;
}

/**
 * Trains a model on sentences and on what the grammars make. The same sentences and seed give the same model on every
 * machine.
 * @param calibration sentences of other people, by whom the temperature is chosen before they are learned too
 * @returns the model, and the one that has not learned the calibration, for the choice of thresholds
 */
export async function trainModel(
  written: readonly Sentence[],
  calibration: readonly Sentence[],
  seed: number,
): Promise<{ model: Model; before: Model }> {
  const networks = Promise.all([networkOf(written, seed), networkOf([...written, ...calibration], seed)]);
  // The threads start before the linear classifier keeps this one busy.
  await setImmediate();
  const random = seeded(seed);
  const first = [...writtenLessons(written, random), ...madeLessons(random)];
  const rest = writtenLessons(calibration, random);
  const known = knownBuckets([...first, ...rest]);
  for (const lesson of [...first, ...rest]) toRows(lesson, known);
  const size = known.size * COUNT;
  const weights: Weights = {
    values: new Float32Array(size),
    squares: new Float32Array(size),
    bias: new Float64Array(COUNT),
  };
  learnAll(weights, first, random);
  const [early, late] = await networks;
  const others = calibration.map(({ text }) =>
    outputOf(early, activate(early, placesOf(tokensOf(foldText(text)), early.known)).pooled),
  );
  // The first lesson of each sentence is the sentence as it stands.
  const plain = rest.filter(({ isVariant }) => !isVariant);
  const temperature = temperatureFor(
    plain.map((lesson, index) => ({
      scores: combined(scoresOf(weights, lesson), others[index]!),
      right: lesson.label,
    })),
  );
  const before = { ...quantized(weights, known, temperature), network: quantizedNetwork(early) };
  learnAll(weights, rest, random);
  return { model: { ...quantized(weights, known, temperature), network: quantizedNetwork(late) }, before };
}

/** Trains a network in its own thread. */
function networkOf(written: readonly Sentence[], seed: number): Promise<Network> {
  return runInThread<NetworkTask, Network>(new URL('network-thread', import.meta.url), { written, seed });
}

function learnAll(weights: Weights, lessons: Lesson[], random: Random): void {
  for (let epoch = 0; epoch < EPOCHS; epoch += 1)
    for (const lesson of shuffled(lessons, random)) learn(weights, lesson);
}

/** Sentences as they stand, and a part of them with typing mistakes or in the Latin script. */
function writtenLessons(written: readonly Sentence[], random: Random): Lesson[] {
  const users = new Map<string, number>();
  return written.flatMap((sentence) => {
    const { language, person, text, label, isContrast } = sentence;
    const key = `${language}/${person}`;
    const user = users.get(key) ?? LANGUAGES.indexOf(language) * 100 + person;
    users.set(key, user);
    const weight = isContrast ? CONTRAST_WEIGHT : 1;
    const drawn = random.next();
    const lessons = [lessonOf(text, { label, weight, user })];
    if (drawn < MISTYPED + LATINIZED) {
      const variant = drawn < MISTYPED ? mistyped(text, random) : latinized(text, random);
      lessons.push({ ...lessonOf(variant, { label, weight: VARIANT_WEIGHT * weight, user }), isVariant: true });
    }
    return lessons;
  });
}

function madeLessons(random: Random): Lesson[] {
  return LANGUAGES.flatMap((language) =>
    madeSentences(language, random, (kind) => (kind === 'opt_out' ? MADE.opt_out : MADE.other)),
  ).map(({ text, label }, index) => lessonOf(text, { label, weight: MADE_WEIGHT, user: -1 - index }));
}

function lessonOf(text: string, { label, ...rest }: { label: Label; weight: number; user: number }): Lesson {
  const features = featuresOf(tokensOf(foldText(text)));
  return { features, size: Math.sqrt(features.length || 1), label: LABELS.indexOf(label), ...rest };
}

/** Returns the buckets that several people fill, or several made sentences. Lessons of a person stand together. */
function knownBuckets(lessons: readonly Lesson[]): Buckets {
  const users = new Uint8Array(2 ** BUCKET_BITS);
  const latest = new Int32Array(2 ** BUCKET_BITS);
  const bits = new Uint32Array(2 ** BUCKET_BITS / 32);
  for (const { features, user } of lessons)
    for (const feature of features) {
      if (users[feature] === MIN_USERS || (users[feature]! > 0 && latest[feature] === user)) continue;
      latest[feature] = user;
      users[feature]! += 1;
      if (users[feature] === MIN_USERS) bits[feature >>> 5]! |= 1 << (feature & 31);
    }
  return bucketsOf(bits);
}

function toRows(lesson: Lesson, known: Buckets): void {
  lesson.features = lesson.features.map((feature) => rowOf(known, feature)).filter((row) => row >= 0);
}

function scoresOf({ values, bias }: Weights, { features, size }: Lesson): Float64Array {
  const scores = new Float64Array(COUNT);
  for (const row of features)
    for (let label = 0; label < COUNT; label += 1) scores[label]! += values[row * COUNT + label]!;
  return scores.map((score, label) => score / size + bias[label]!);
}

/** One step down the gradient of the cross-entropy. */
function learn(weights: Weights, lesson: Lesson): void {
  const { features, size, label: right, weight } = lesson;
  const errors = softmax(scoresOf(weights, lesson));
  errors[right]! -= 1;
  const { values, squares, bias } = weights;
  for (let label = 0; label < COUNT; label += 1) {
    errors[label]! *= weight;
    bias[label]! -= BIAS_RATE * errors[label]!;
    errors[label]! /= size;
  }
  for (const row of features)
    for (let label = 0; label < COUNT; label += 1) {
      const at = row * COUNT + label;
      const slope = errors[label]!;
      squares[at]! += slope * slope;
      values[at]! -= (RATE * slope) / Math.sqrt(squares[at]! + 1e-8);
    }
}

/** The temperature with which the right labels are likeliest. */
function temperatureFor(scored: readonly { scores: Float64Array; right: number }[]): number {
  let best = { temperature: 1, loss: Infinity };
  for (let temperature = 0.4; temperature <= 4; temperature += 0.05) {
    let loss = 0;
    for (const { scores, right } of scored) loss -= Math.log(softmax(Float64Array.from(scores), temperature)[right]!);
    if (loss < best.loss) best = { temperature: Math.round(temperature * 100) / 100, loss };
  }
  return best.temperature;
}

/** Stores each weight as a whole number of steps, without the buckets whose weights are all small. */
function quantized({ values, bias }: Weights, known: Buckets, temperature: number): Omit<Model, 'network'> {
  const weights = Int8Array.from(values, (value) => Math.max(-INT8_MAX, Math.min(INT8_MAX, Math.round(value / STEP))));
  return {
    bits: BUCKET_BITS,
    temperature,
    bias: [...bias],
    step: LABELS.map(() => STEP),
    ...withoutSmall(known, weights),
  };
}

function withoutSmall(known: Buckets, weights: Int8Array): Pick<Model, 'known' | 'weights'> {
  const bits = new Uint32Array(known.bits.length);
  const kept = new Int8Array(weights.length);
  let length = 0;
  for (let bucket = 0; bucket < bits.length * 32; bucket += 1) {
    const row = rowOf(known, bucket) * COUNT;
    const found = weights.subarray(Math.max(row, 0), row + COUNT);
    if (row < 0 || found.every((weight) => Math.abs(weight) <= SMALL_STEPS)) continue;
    bits[bucket >>> 5]! |= 1 << (bucket & 31);
    kept.set(found, length);
    length += COUNT;
  }
  return { known: bucketsOf(bits), weights: kept.slice(0, length) };
}
