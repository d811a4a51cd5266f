import { readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the project. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Folder of all files that can be generated again. */
export const CACHE = join(ROOT, '.heron', 'cache');

const DAY_MS = 86_400_000;
/** Age (ms) from which unused folders are removed. */
const UNUSED_MS = 7 * DAY_MS;

/**
 * Marks folders as used by this process, now and once a day. A process that runs for weeks may still load parts of
 * them.
 */
export function keepUsed(...folders) {
  const mark = () => {
    const now = new Date();
    for (const folder of folders) utimesSync(folder, now, now);
  };
  mark();
  setInterval(mark, DAY_MS).unref();
}

/** Moves a folder to its final path, unless another process did so before. */
export function renameUnlessMade(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  }
}

/** Removes the entries of a cache folder that were not used for a week. */
export function removeUnused(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    // Another process may be removing the same entry.
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Infinity };
    if (Date.now() - mtimeMs > UNUSED_MS) rmSync(path, { recursive: true, force: true });
  }
}
