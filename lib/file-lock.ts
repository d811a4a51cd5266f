import { mkdir, open, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const HEARTBEAT_MS = 2000;
const STALE_AFTER_MS = 15_000;
const POLL_MS = 500;

/**
 * Runs `work` while no other process on this machine holds the same lock file. The holder refreshes the file's time. A
 * file that is not refreshed belongs to a dead process and is taken over. If two processes take over at the same time,
 * both may run `work`, so its repetition must be harmless. An example is a build that ends in an atomic rename.
 * @param onWait called once, with the holder's process id, when another process holds the lock
 */
export async function withFileLock<T>(
  file: string,
  onWait: (holder: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(dirname(file), { recursive: true });
  let reported = false;
  while (!(await acquire(file))) {
    if (!reported) onWait((await readFile(file, 'utf8').catch(() => '')) || 'unknown');
    reported = true;
    await sleep(POLL_MS);
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await rm(file, { force: true });
  }
}

async function acquire(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx');
    await handle.close();
    await writeFile(file, String(process.pid));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const touched = await stat(file).then(
      (found) => found.mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - touched > STALE_AFTER_MS) await rm(file, { force: true });
    return false;
  }
}
