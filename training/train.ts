import { BUCKET_BITS, featuresOf, foldText, tokensOf } from '../domain/mail/reading/features.ts';
import { LABELS, softmax, type Model } from '../domain/mail/reading/model.ts';
import { LANGUAGES, madeSentences, type Sentence } from './corpus.ts';
import { seeded, type Random } from '../test/faults/random.ts';
import { latinized, mistyped } from './variants.ts';

const COUNT = LABELS.length;
const EPOCHS = 3;
/** AdaGrad: the initial step size, and the decay of a weight per step. */
const RATE = 0.5;
const DECAY = 1e-6;
const BIAS_RATE = 0.01;
/** Weight of a generated sentence, which is less typical than a written one. */
const MADE_WEIGHT = 0.3;
/** Few sentences use the words of opting out in another sense. */
const CONTRAST_WEIGHT = 3;
/** Number of generated sentences per language and epoch. */
const MADE = { opt_out: 500, other: 120 };
/** Share of the written sentences with typing mistakes, and with Latin letters. */
const MISTYPED = 0.2;
const LATINIZED = 0.12;
const INT8_MAX = 127;

interface Weights {
  values: Float32Array;
  /** Sum of squared slopes of each weight. */
  squares: Float32Array;
  bias: Float64Array;
}

interface Lesson {
  text: string;
  label: number;
  weight: number;
}

/**
 * Trains a model on written and generated sentences. The same sentences and seed give the same model on every machine.
 * @param calibration sentences of other writers, which determine the temperature; the last epoch learns from them too
 */
export function trainModel(written: readonly Sentence[], calibration: readonly Sentence[], seed: number): Model {
  const random = seeded(seed);
  const size = (1 << BUCKET_BITS) * COUNT;
  const weights: Weights = {
    values: new Float32Array(size),
    squares: new Float32Array(size),
    bias: new Float64Array(COUNT),
  };
  for (let epoch = 1; epoch < EPOCHS; epoch += 1) learnAll(weights, written, random);
  const temperature = temperatureFor(weights, calibration);
  learnAll(weights, [...written, ...calibration], random);
  return quantized(weights, temperature);
}

/** Trains one epoch. */
function learnAll(weights: Weights, written: readonly Sentence[], random: Random): void {
  const lessons: Lesson[] = written.map((sentence) => ({
    text: asWritten(sentence, random),
    label: LABELS.indexOf(sentence.label),
    weight: sentence.isContrast ? CONTRAST_WEIGHT : 1,
  }));
  for (const language of LANGUAGES)
    for (const { text, label } of madeSentences(language, random, (kind) =>
      kind === 'opt_out' ? MADE.opt_out : MADE.other,
    ))
      lessons.push({ text, label: LABELS.indexOf(label), weight: MADE_WEIGHT });
  for (const lesson of shuffled(lessons, random)) learn(weights, lesson);
}

/** The list itself, in a random order. */
export function shuffled<T>(list: T[], random: Random): T[] {
  for (let index = list.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random.next() * (index + 1));
    [list[index], list[other]] = [list[other]!, list[index]!];
  }
  return list;
}

/** Returns a sentence unchanged, with typing mistakes, or in Latin letters. */
function asWritten({ text }: Sentence, random: Random): string {
  const drawn = random.next();
  if (drawn < MISTYPED) return mistyped(text, random);
  return drawn < MISTYPED + LATINIZED ? latinized(text, random) : text;
}

function features(text: string): Int32Array {
  return featuresOf(tokensOf(foldText(text)));
}

function scoresOf({ values, bias }: Weights, found: Int32Array): Float64Array {
  const scores = Float64Array.from(bias);
  const value = 1 / Math.sqrt(found.length || 1);
  for (const feature of found)
    for (let label = 0; label < COUNT; label += 1) scores[label]! += values[feature * COUNT + label]! * value;
  return scores;
}

/** Makes one step down the gradient of the cross-entropy. */
function learn(weights: Weights, { text, label: right, weight }: Lesson): void {
  const found = features(text);
  const errors = softmax(scoresOf(weights, found));
  errors[right]! -= 1;
  const value = 1 / Math.sqrt(found.length || 1);
  const { values, squares, bias } = weights;
  for (let label = 0; label < COUNT; label += 1) {
    errors[label]! *= weight;
    bias[label]! -= BIAS_RATE * errors[label]!;
  }
  for (const feature of found)
    for (let label = 0; label < COUNT; label += 1) {
      const at = feature * COUNT + label;
      const slope = errors[label]! * value + DECAY * values[at]!;
      if (Math.abs(slope) < 1e-5) continue;
      squares[at]! += slope * slope;
      values[at]! -= (RATE * slope) / Math.sqrt(squares[at]! + 1e-8);
    }
}

/** The temperature with which the right labels are likeliest. */
function temperatureFor(weights: Weights, calibration: readonly Sentence[]): number {
  if (calibration.length === 0) return 1;
  const scored = calibration.map(({ text, label }) => ({
    scores: scoresOf(weights, features(text)),
    right: LABELS.indexOf(label),
  }));
  let best = { temperature: 1, loss: Infinity };
  for (let temperature = 0.4; temperature <= 4; temperature += 0.05) {
    let loss = 0;
    for (const { scores, right } of scored) loss -= Math.log(softmax(Float64Array.from(scores), temperature)[right]!);
    if (loss < best.loss) best = { temperature: Math.round(temperature * 100) / 100, loss };
  }
  return best.temperature;
}

/** Stores each weight as a whole number of steps; the step size of a label is chosen for its largest weights. */
function quantized({ values, bias }: Weights, temperature: number): Model {
  const step = LABELS.map((_, label) => {
    let largest = 0;
    for (let at = label; at < values.length; at += COUNT) largest = Math.max(largest, Math.abs(values[at]!));
    return largest / INT8_MAX || 1;
  });
  const weights = new Int8Array(values.length);
  for (let at = 0; at < values.length; at += 1) weights[at] = Math.round(values[at]! / step[at % COUNT]!);
  return { bits: BUCKET_BITS, temperature, bias: [...bias], step, weights };
}
