import type { Deps } from '../domain/platform/kernel/context.ts';
import { moveBlobs, removeBlobs } from '../domain/operations/system/move-blobs.ts';
import { isAdrift } from '../lib/clock.ts';
import { startLoop, type Loop } from '../lib/loop.ts';

/**
 * Moves new files to the store of BLOB_PROVIDER and deletes the bytes of deleted files. Several processes may run this
 * loop; only one at a time handles a file.
 * @param everyMs interval of the search for files
 */
export function startBlobs(deps: Deps, everyMs = 15_000): Loop {
  const iterate = async () => ((await removeBlobs(deps)) + (await moveBlobs(deps)) > 0 ? {} : { mostMs: everyMs });
  const onError = (error: unknown) =>
    deps.log.warn({ err: error }, 'files could not be moved or deleted, will try again');
  return startLoop({ name: 'files', iterate, isHeld: () => isAdrift(deps.clock), failedMs: everyMs, onError });
}
