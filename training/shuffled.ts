import type { Random } from '../test/faults/random.ts';

/** Shuffles the list in place and returns it. */
export function shuffled<T>(list: T[], random: Random): T[] {
  for (let index = list.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random.next() * (index + 1));
    [list[index], list[other]] = [list[other]!, list[index]!];
  }
  return list;
}
