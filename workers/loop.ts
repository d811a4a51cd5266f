import { createWakeable } from '../lib/wakeable.ts';

/** A loop of a worker process. */
export interface Loop {
  /** Stops after the look that is under way. */
  stop(): Promise<void>;
}

/**
 * Looks for work again and again: at once while there is more, else after a pause.
 * @param look does what it finds; whether there is more to do at once
 * @param everyMs the pause (ms)
 * @param onError called with what a look throws; the next one is made after the pause
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
