import { setTimeout as sleep } from 'node:timers/promises';
import { inIteration } from './iterations.ts';
import { createWakeable } from './wakeable.ts';

/** Pause after an iteration, which has three parts, one after another. A missing part lasts 0 ms. */
export interface Pause {
  /** First part (ms) of the pause. A wake-up does not end it. */
  leastMs?: number;
  /** Second part (ms) of the pause. A wake-up ends it. */
  mostMs?: number;
  /** Last part (ms) of the pause, in which work is collected for the next iteration. */
  gatherMs?: number;
}

/** Pause (ms) before a loop that must not work checks `isHeld` again. */
const HELD_MS = 1_000;

interface LoopOptions {
  /** Name for `/health` and logs. */
  name: string;
  /** Performs the pending work and returns the pause after it. See {@link inIteration} for `progress`. */
  iterate: (progress: () => void) => Promise<Pause>;
  /** Returns true while the loop must not work. The loop then checks again every second. */
  isHeld?: () => boolean;
  /** Pause (ms) after an iteration that failed. */
  failedMs: number;
  /** Called with the error of a failed iteration. */
  onError: (error: unknown) => void;
}

/** Handle of a background loop. */
export interface Loop {
  /** Ends the current pause. Call it when there is new work. */
  wake(): void;
  /** Stops after the current iteration. */
  stop(): Promise<void>;
}

/** Starts a loop, which repeats until it is stopped. */
export function startLoop({ name, iterate, isHeld = () => false, failedMs, onError }: LoopOptions): Loop {
  const wakeable = createWakeable();
  const stopping = new AbortController();
  const { signal } = stopping;
  const rest = (ms = 0): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {});

  const loop = (async () => {
    while (!signal.aborted) {
      if (isHeld()) {
        await rest(HELD_MS);
        continue;
      }
      wakeable.clear();
      const { leastMs, mostMs, gatherMs } = await inIteration(name, iterate).catch((error: unknown): Pause => {
        onError(error);
        return { leastMs: failedMs };
      });
      if (leastMs) await rest(leastMs);
      if (mostMs && !signal.aborted) await wakeable.pause(mostMs);
      if (gatherMs) await rest(gatherMs);
    }
  })();

  return {
    wake: () => wakeable.wake(),
    async stop() {
      stopping.abort();
      wakeable.wake();
      await loop;
    },
  };
}
