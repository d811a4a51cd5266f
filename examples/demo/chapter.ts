import { setTimeout as sleep } from 'node:timers/promises';

/** Expectation with its differences; none if the expectation holds. */
export type Result = readonly [name: string, differences: string[]];

/** Polls until there is a result, and returns it. */
export type Until = <T>(what: string, ask: () => Promise<T | undefined | false>) => Promise<T>;

/**
 * Creates a chapter's {@link Until}: it polls four times a second and throws an Error naming `what` after `patienceMs`
 * (ms).
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
