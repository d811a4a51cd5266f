/**
 * Generator of random numbers that depend only on the seed: the same seed gives the same contacts, behaviours and
 * kills.
 */
export interface Random {
  /** Returns a uniformly distributed number from 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** Returns a uniformly distributed number between `from` and `to`. */
  between(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
  /** Creates a separate generator, so that its use does not change the numbers of another one. */
  fork(label: string): Random;
}

/** Creates a generator for a seed (mulberry32: small, and sufficient here). */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (from, to) => from + next() * (to - from),
    pick: (list) => list[Math.floor(next() * list.length)]!,
    fork: (label) =>
      seeded(
        [...label].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193), seed ^ 0x811c9dc5),
      ),
  };
}
