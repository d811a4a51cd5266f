import { setTimeout as sleep } from 'node:timers/promises';
import { inTurn } from './turns.ts';
import { createWakeable } from './wakeable.ts';

/** Pause after a turn, in three parts. Absent parts are 0; without any the next turn follows at once. */
export interface Pause {
  /** First part (ms), which no wake-up shortens. */
  leastMs?: number;
  /** Second part (ms), which a wake-up ends. */
  mostMs?: number;
  /** Last part (ms), in which work is collected for the next turn. */
  gatherMs?: number;
}

/** Pause (ms) before a held loop looks again. */
const HELD_MS = 1_000;

interface LoopOptions {
  /** Name for `/health` and logs. */
  name: string;
  /** Does the work that it finds, and returns the pause until the next turn. See {@link inTurn} for `progress`. */
  turn: (progress: () => void) => Promise<Pause>;
  /** Returns true while the loop must not work. It then looks again every second. */
  isHeld?: () => boolean;
  /** Pause (ms) after a turn that failed. */
  failedMs: number;
  /** Called with the error of a failed turn. */
  onError: (error: unknown) => void;
}

/** Background loop of a process. */
export interface Loop {
  /** Ends the pause, because there is work. */
  wake(): void;
  /** Stops after the current turn. */
  stop(): Promise<void>;
}

/** Starts a loop, which repeats its turn until it is stopped. */
export function startLoop({ name, turn, isHeld = () => false, failedMs, onError }: LoopOptions): Loop {
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
      const { leastMs, mostMs, gatherMs } = await inTurn(name, turn).catch((error: unknown): Pause => {
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
