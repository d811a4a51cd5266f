import { activate, outputOf, placesOf, type Network } from '../domain/mail/reading/network.ts';
import { bucketsOf, type Buckets } from '../domain/mail/reading/buckets.ts';
import { BUCKET_BITS, characterFeatures, foldText, tokensOf, wordFeatures } from '../domain/mail/reading/features.ts';
import { LABELS, softmax } from '../domain/mail/reading/model.ts';
import { LANGUAGES, madeSentences, type Sentence } from './corpus.ts';
import { seeded, type Random } from '../test/faults/random.ts';
import { shuffled } from './shuffled.ts';
import { latinized, mistyped } from './variants.ts';

const COUNT = LABELS.length;
const SHAPE = { size: 32, filters: 128, width: 5 };
/** AdaGrad: first steps of embeddings and of the layers, and the sum of squared slopes at the start. */
const RATE = { embeddings: 0.04, layers: 0.02 };
/** Length of the steps of each pass over the sentences. */
const PACES = [1, 1, 0.5, 0.2];
const START_SQUARE = 1e-4;
/** Parts of the features of a word, of the words, and of the pooled values that a lesson leaves out. */
const DROPPED = { feature: 0.1, word: 0.05, pooled: 0.35 };
/** Number of people, or of made sentences, who must use a feature before it has an embedding. */
const MIN_USERS = 4;
const MADE = { opt_out: 250, other: 60 };
const MADE_WEIGHT = 0.3;
const CONTRAST_WEIGHT = 3;
/** Parts of the sentences that are learned with typing mistakes, or in the Latin script. */
const MISTYPED = 0.25;
const LATINIZED = 0.1;
/**
 * Largest integer stored for an embedding: six bits with sign. The file is a third smaller than with eight bits, and
 * answers are classified equally well.
 */
const LARGEST = 31;

interface Lesson {
  text: string;
  label: number;
  weight: number;
}

/** A network with the sums of squared slopes of its weights. */
interface Trained {
  network: Network;
  squares: Record<'embeddings' | 'convolution' | 'convolutionBias' | 'output' | 'outputBias', Float32Array>;
}

/**
 * Trains a network on sentences and on what the grammars make. The same sentences and seed give the same network on
 * every machine.
 */
export function trainNetwork(written: readonly Sentence[], seed: number): Network {
  const random = seeded(seed);
  const known = knownFeatures(written);
  const trained = untrained(known, random);
  for (let epoch = 0; epoch < PACES.length; epoch += 1) {
    const lessons = shuffled([...written.map((one) => lessonOf(one, random)), ...madeLessons(random)], random);
    // The steps of the last epochs are smaller.
    const pace = PACES[epoch]!;
    for (const lesson of lessons) learn(trained, lesson, pace, random);
  }
  return trained.network;
}

function lessonOf({ text, label, isContrast }: Sentence, random: Random): Lesson {
  const drawn = random.next();
  const variant =
    drawn < MISTYPED ? mistyped(text, random) : drawn < MISTYPED + LATINIZED ? latinized(text, random) : text;
  return { text: variant, label: LABELS.indexOf(label), weight: isContrast ? CONTRAST_WEIGHT : 1 };
}

function madeLessons(random: Random): Lesson[] {
  return LANGUAGES.flatMap((language) =>
    madeSentences(language, random, (kind) => (kind === 'opt_out' ? MADE.opt_out : MADE.other)),
  ).map(({ text, label }) => ({ text, label: LABELS.indexOf(label), weight: MADE_WEIGHT }));
}

/** Returns the features that several people use. Sentences of a person stand together. */
function knownFeatures(written: readonly Sentence[]): Buckets {
  const users = new Uint8Array(2 ** BUCKET_BITS);
  const latest = new Int32Array(2 ** BUCKET_BITS);
  const bits = new Uint32Array(2 ** BUCKET_BITS / 32);
  let [user, person] = [0, ''];
  for (const { language, person: number, text } of written) {
    if (person !== `${language}/${number}`) [user, person] = [user + 1, `${language}/${number}`];
    for (const token of tokensOf(foldText(text)))
      for (const feature of characterFeatures(token)?.flat() ?? wordFeatures(token)) {
        if (users[feature] === MIN_USERS || latest[feature] === user) continue;
        latest[feature] = user;
        users[feature]! += 1;
        if (users[feature] === MIN_USERS) bits[feature >>> 5]! |= 1 << (feature & 31);
      }
  }
  return bucketsOf(bits);
}

function untrained(known: Buckets, random: Random): Trained {
  const { size, filters, width } = SHAPE;
  const drawn = (length: number, most: number): Float32Array =>
    Float32Array.from({ length }, () => (2 * random.next() - 1) * most);
  const network: Network = {
    ...SHAPE,
    step: 1,
    known,
    embeddings: drawn(known.size * size, 0.15),
    convolution: drawn(filters * width * size, Math.sqrt(3 / (width * size))),
    convolutionBias: new Float32Array(filters),
    output: drawn(COUNT * (filters + size), 0.1),
    outputBias: new Float32Array(COUNT),
  };
  const squaresOf = ({ length }: { length: number }): Float32Array => new Float32Array(length).fill(START_SQUARE);
  return {
    network,
    squares: {
      embeddings: squaresOf(network.embeddings),
      convolution: squaresOf(network.convolution),
      convolutionBias: squaresOf(network.convolutionBias),
      output: squaresOf(network.output),
      outputBias: squaresOf(network.outputBias),
    },
  };
}

/** One step down the gradient of the cross-entropy. */
function learn({ network, squares }: Trained, { text, label, weight }: Lesson, pace: number, random: Random): void {
  const { size, filters, width, embeddings, convolution, convolutionBias, output, outputBias } = network;
  const rows = placesOf(tokensOf(foldText(text)), network.known)
    .filter(() => random.next() >= DROPPED.word)
    .map((features) => features.filter(() => random.next() >= DROPPED.feature));
  if (rows.length === 0) return;
  const { places, count, pooled, highest } = activate(network, rows);
  const length = filters + size;
  for (let at = 0; at < filters; at += 1)
    if (random.next() < DROPPED.pooled) pooled[at] = 0;
    else pooled[at]! /= 1 - DROPPED.pooled;
  const errors = softmax(outputOf(network, pooled));
  errors[label]! -= 1;
  const rate = RATE.layers * pace;
  const slopes = new Float32Array(length);
  for (let kind = 0; kind < COUNT; kind += 1) {
    const error = errors[kind]! * weight;
    step(outputBias, squares.outputBias, kind, error, rate);
    for (let at = 0; at < length; at += 1) {
      const weightAt = kind * length + at;
      slopes[at]! += error * output[weightAt]!;
      if (pooled[at] !== 0) step(output, squares.output, weightAt, error * pooled[at]!, rate);
    }
  }
  const reach = width * size;
  const back = new Float32Array(places.length);
  for (let filter = 0; filter < filters; filter += 1) {
    const place = highest[filter]!;
    if (place < 0 || pooled[filter] === 0) continue;
    const slope = slopes[filter]! / (1 - DROPPED.pooled);
    step(convolutionBias, squares.convolutionBias, filter, slope, rate);
    const [from, weights] = [place * size, filter * reach];
    for (let at = 0; at < reach; at += 1) {
      back[from + at]! += slope * convolution[weights + at]!;
      if (places[from + at] !== 0)
        step(convolution, squares.convolution, weights + at, slope * places[from + at]!, rate);
    }
  }
  const embedding = RATE.embeddings * pace;
  for (let place = 0; place < count; place += 1) {
    const from = (place + (width >> 1)) * size;
    const scale = 1 / Math.sqrt(rows[place]!.length || 1);
    for (let at = 0; at < size; at += 1) back[from + at] = scale * (back[from + at]! + slopes[filters + at]! / count);
    for (const row of rows[place]!)
      for (let at = 0; at < size; at += 1)
        step(embeddings as Float32Array, squares.embeddings, row * size + at, back[from + at]!, embedding);
  }
}

function step(values: Float32Array, squares: Float32Array, at: number, slope: number, rate: number): void {
  if (slope === 0) return;
  squares[at]! += slope * slope;
  values[at]! -= (rate * slope) / Math.sqrt(squares[at]!);
}

/** Stores each value of the embeddings as a whole number of steps. */
export function quantizedNetwork(network: Network): Network {
  const sorted = Float32Array.from(network.embeddings, Math.abs).sort();
  // The few largest values are cut off.
  const most = sorted[Math.floor(sorted.length * 0.999)]!;
  const step = most / LARGEST;
  const embeddings = Int8Array.from(network.embeddings, (value) =>
    Math.max(-LARGEST, Math.min(LARGEST, Math.round(value / step))),
  );
  return { ...network, step, embeddings };
}
