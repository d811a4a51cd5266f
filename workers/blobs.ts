import type { Deps } from '../domain/platform/kernel/context.ts';
import { moveBlobs, removeBlobs } from '../domain/operations/system/move-blobs.ts';
import { startLoop, type Loop } from './loop.ts';

/**
 * Keeps files where BLOB_PROVIDER says: moves new ones there, and deletes the bytes of those that are gone. Every process may; of each file one
 * at a time does.
 * @param everyMs how often it looks
 */
export function startBlobs(deps: Deps, everyMs = 15_000): Loop {
  const look = async () => (await removeBlobs(deps)) + (await moveBlobs(deps)) > 0;
  return startLoop(look, everyMs, (error) =>
    deps.log.warn({ err: error }, 'files could not be moved or deleted, will try again'),
  );
}
