import type { AnswerKind, ReadingBias } from './read-reply.ts';

/** Readings of one kind that people corrected to another one. */
interface CountedCorrection {
  read: AnswerKind;
  said: AnswerKind;
  count: number;
}

/** Shift of the log-odds for each correction, and the largest one: a workspace leans the model and does not train it. */
const STEP = 0.25;
const LARGEST = 1.5;

/** The bias that corrections of one workspace teach: towards the kinds that people gave, away from those that they took back. */
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
