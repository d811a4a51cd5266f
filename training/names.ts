import { nameFeatures, nameTokens, NAME_BITS, type NameModel } from '../domain/mail/reading/names.ts';
import type { Random } from '../test/faults/random.ts';
import type { Sentence } from './corpus.ts';
import { shuffled } from './shuffled.ts';

const EPOCHS = 6;
const RATE = 0.3;
const INT8_MAX = 127;

interface Lesson {
  features: number[];
  isName: boolean;
}

/** The words of a sentence that name a person: of a referral, and the deputy of an away note. */
export function nameIn({ label, detail }: Sentence): string {
  if (label === 'referral') return detail.trim();
  return label === 'out_of_office' ? (detail.split('|')[1] ?? '').trim() : '';
}

/**
 * Returns the words of a sentence that name a time: when to contact the person again, and the return date of an away
 * message.
 */
export function timeIn({ label, detail }: Sentence): string {
  if (label === 'not_now') return detail.trim();
  return label === 'out_of_office' ? (detail.split('|')[0] ?? '').trim() : '';
}

/** Trains the classifier of the words that name a person, on referrals and away notes. */
export function trainNames(sentences: readonly Sentence[], random: Random): NameModel {
  const weights = new Float32Array(1 << NAME_BITS);
  const squares = new Float32Array(1 << NAME_BITS);
  let bias = 0;
  const lessons = sentences.flatMap(lessonsOf);
  for (let epoch = 0; epoch < EPOCHS; epoch += 1)
    for (const { features, isName } of shuffled(lessons, random)) {
      const score = features.reduce((sum, feature) => sum + weights[feature]!, bias);
      const error = 1 / (1 + Math.exp(-score)) - (isName ? 1 : 0);
      bias -= 0.005 * error;
      for (const feature of features) {
        squares[feature]! += error * error;
        weights[feature]! -= (RATE * error) / Math.sqrt(squares[feature]! + 1e-6);
      }
    }
  const step = weights.reduce((most, one) => Math.max(most, Math.abs(one)), 0) / INT8_MAX || 1;
  return { bias, step, weights: Int8Array.from(weights, (one) => Math.round(one / step)) };
}

function lessonsOf(sentence: Sentence): Lesson[] {
  if (sentence.label !== 'referral' && sentence.label !== 'out_of_office') return [];
  const name = nameIn(sentence);
  const at = name === '' ? -1 : sentence.text.lastIndexOf(name);
  const tokens = nameTokens(sentence.text);
  return tokens.map(({ start, end }, index) => ({
    features: nameFeatures(tokens, index),
    isName: at >= 0 && start >= at && end <= at + name.length,
  }));
}
