/** Random numbers that are the same on every machine, from a seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let value = this.#state;
    value = Math.imul(value ^ (value >>> 15), value | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to, but not including, `below`. */
  below(below: number): number {
    return Math.floor(this.next() * below);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** The list in a random order; the list itself is shuffled. */
  shuffle<T>(list: T[]): T[] {
    for (let index = list.length - 1; index > 0; index -= 1) {
      const other = this.below(index + 1);
      [list[index], list[other]] = [list[other]!, list[index]!];
    }
    return list;
  }
}
