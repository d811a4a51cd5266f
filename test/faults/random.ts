/** Draws that a seed repeats: the same seed gives the same contacts, behaviours and kills. */
export interface Random {
  /** Uniform in 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** Uniform in `from` to `to`. */
  between(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
  /** A generator of its own, so that one use cannot shift the draws of another. */
  fork(label: string): Random;
}

/** A generator for a seed (mulberry32: small, and good enough to choose victims). */
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
