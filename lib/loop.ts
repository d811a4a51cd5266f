import { setTimeout as sleep } from 'node:timers/promises';
import { inIteration } from './iterations.ts';
import { createWakeable } from './wakeable.ts';

/**
 * Pause after an iteration, in three parts. A missing part is 0, and without any part the next iteration follows
 * immediately.
 */
export interface Pause {
  /** First part (ms), which wake-ups do not shorten. */
  leastMs?: number;
  /** Second part (ms), which a wake-up ends. */
  mostMs?: number;
  /** Last part (ms), in which work is collected for the next iteration. */
  gatherMs?: number;
}

/** Pause (ms) before a held loop checks again. */
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
