import { setTimeout as sleep } from 'node:timers/promises';

/** Name of a check with its differences; there are none if the check passes. */
export type Result = readonly [name: string, differences: string[]];

/** Polls `ask` until it returns a result, and returns the result. */
export type Until = <T>(what: string, ask: () => Promise<T | undefined | false>) => Promise<T>;

/**
 * Creates the {@link Until} of a chapter. It polls four times a second, and throws an Error with `what` after
 * `patienceMs` (ms).
 */
export function createUntil(signal: AbortSignal, patienceMs: number): Until {
  return async (what, ask) => {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const answer = await ask();
      if (answer) return answer;
      if (Date.now() > deadline) throw new Error(`no sign of ${what} after ${patienceMs / 1000} seconds`);
      await sleep(250, undefined, { signal });
    }
  };
}

/** Returns the entries that are in only one of the lists, counting repetitions. */
export function compare(actual: readonly string[], expected: readonly string[]): string[] {
  const left = [...expected];
  const surplus = actual.filter((entry) => {
    const at = left.indexOf(entry);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [...surplus.map((entry) => `too much: ${entry}`), ...left.map((entry) => `missing: ${entry}`)];
}
