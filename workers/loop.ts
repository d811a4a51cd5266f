import { createWakeable } from '../lib/wakeable.ts';

/** Background loop of a worker process. */
export interface Loop {
  /** Stops after the current iteration. */
  stop(): Promise<void>;
}

/**
 * Repeats an iteration: immediately while there is more work, else after a pause.
 * @param look does the work that it finds and returns true if there is more
 * @param everyMs pause (ms) without further work
 * @param onError called with an error of `look`, which runs again after the pause
 */
export function startLoop(look: () => Promise<boolean>, everyMs: number, onError: (error: unknown) => void): Loop {
  const wakeable = createWakeable();
  let running = true;
  const loop = (async () => {
    while (running) {
      const more = await look().catch((error: unknown) => {
        onError(error);
        return false;
      });
      if (running && !more) await wakeable.pause(everyMs);
    }
  })();
  return {
    async stop() {
      running = false;
      wakeable.wake();
      await loop;
    },
  };
}
