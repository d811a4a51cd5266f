import { setImmediate } from 'node:timers/promises';

/** How long (ms) a slice of a long calculation keeps the event loop. */
const SLICE_MS = 10;

/**
 * Divides a long calculation into slices, between which the event loop serves others. Make one for each calculation, and await what it returns between
 * steps that are short: it lets others have their turn once a slice has passed, and costs next to nothing before.
 */
export function createSlices(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await setImmediate();
    since = performance.now();
  };
}
