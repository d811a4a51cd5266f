import type { Deps } from '../domain/kernel/context.ts';
import { moveBlobs, removeBlobs } from '../domain/system/move-blobs.ts';
import { createWakeable } from '../lib/wakeable.ts';

/**
 * Keeps files where BLOB_PROVIDER says: moves new ones there, and deletes the bytes of those that are gone. Every process may; of each file one
 * at a time does.
 * @param everyMs how often it looks
 */
export function startBlobs(deps: Deps, everyMs = 15_000): { stop(): Promise<void> } {
  const wakeable = createWakeable();
  let running = true;
  const look = async () => (await removeBlobs(deps)) + (await moveBlobs(deps)) > 0;
  const loop = (async () => {
    while (running) {
      const more = await look().catch((error: unknown) => {
        deps.log.warn({ err: error }, 'files could not be moved or deleted, will try again');
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
