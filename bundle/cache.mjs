import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Folder of everything that can be made again. */
export const CACHE = join(ROOT, '.heron', 'cache');

/** What no process has used for this long (ms) is removed. */
const UNUSED_MS = 7 * 86_400_000;

/** Removes what lies in a folder of the cache and was not used for a week. */
export function removeUnused(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    // Another process may be removing it too.
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Infinity };
    if (Date.now() - mtimeMs > UNUSED_MS) rmSync(path, { recursive: true, force: true });
  }
}
