import { setImmediate } from 'node:timers/promises';

/** Maximum time (ms) for which a slice of a long calculation blocks the event loop. */
const SLICE_MS = 10;

/**
 * Divides a long calculation into slices, between which the event loop handles other work. Create one per calculation,
 * and await the returned function between short steps. It yields to the event loop when a slice has elapsed, and
 * otherwise costs almost nothing.
 */
export function createSlices(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await setImmediate();
    since = performance.now();
  };
}
