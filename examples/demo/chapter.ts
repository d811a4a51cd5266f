import { setTimeout as sleep } from 'node:timers/promises';

/** What was to happen, and what differs from it; nothing when it has. */
export type Result = readonly [name: string, differences: string[]];

/** Asks until there is an answer, and returns it. */
export type Until = <T>(what: string, ask: () => Promise<T | undefined | false>) => Promise<T>;

/** Makes a chapter's {@link Until}: it asks four times a second, and throws an Error naming `what` after `patienceMs` (ms). */
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

/** What is in one list and not in the other, a repeated entry as often as it is repeated. */
export function compare(actual: readonly string[], expected: readonly string[]): string[] {
  const left = [...expected];
  const surplus = actual.filter((entry) => {
    const at = left.indexOf(entry);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [...surplus.map((entry) => `too much: ${entry}`), ...left.map((entry) => `missing: ${entry}`)];
}
