import type { AnswerKind, ReadingBias } from './read-reply.ts';

/** Classifications of one kind that people corrected to another kind. */
interface CountedCorrection {
  read: AnswerKind;
  said: AnswerKind;
  count: number;
}

/**
 * Shift of the log-odds per correction, and the maximum shift. A workspace's corrections shift the model's result but
 * do not train the model.
 */
const STEP = 0.25;
const LARGEST = 1.5;

/**
 * Returns the bias from one workspace's corrections: towards the kinds that people chose, away from those that they
 * rejected.
 */
export function biasFrom(corrections: readonly CountedCorrection[]): ReadingBias {
  const net = new Map<AnswerKind, number>();
  for (const { read, said, count } of corrections) {
    net.set(said, (net.get(said) ?? 0) + count);
    net.set(read, (net.get(read) ?? 0) - count);
  }
  return Object.fromEntries(
    [...net]
      .filter(([, count]) => count !== 0)
      .map(([kind, count]) => [kind, Math.max(-LARGEST, Math.min(LARGEST, STEP * count))]),
  );
}
