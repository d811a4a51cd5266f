import type { ChildProcess } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { showProgress } from './progress.ts';

/**
 * Time (ms) without progress after which a download is abandoned. Some networks drop connections silently instead of
 * refusing them.
 */
const STALL_MS = 20_000;
const POLL_MS = 250;
const REASON_LINES = 3;

/**
 * Waits for a process that downloads into `folder`, and shows the amount received. Kills the process when no data
 * arrives for 20 seconds.
 * @param label prefix of its log lines
 * @param child process whose standard error is read. If it sends a string as a message, the string is the reason of its
 * failure
 * @throws Error with the reason when the process fails, or when the download stalls
 */
export async function awaitDownload(
  child: ChildProcess,
  folder: string,
  label: string,
  log: (line: string) => void,
): Promise<void> {
  let reason = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (reason = (reason + text).slice(-4000)));
  child.on('message', (message) => {
    if (typeof message === 'string') reason = message;
  });

  let stalled = false;
  let size = 0;
  let movedAt = Date.now();
  const watch = setInterval(() => {
    void folderSize(folder).then((now) => {
      if (now !== size) movedAt = Date.now();
      size = now;
      if (Date.now() - movedAt > STALL_MS) {
        stalled = true;
        child.kill('SIGKILL');
      }
    });
  }, POLL_MS);
  const progress = showProgress(
    log,
    (seconds) => `${label}: downloading, ${(size / 1_000_000).toFixed(1)} MB, ${seconds} s`,
  );
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).finally(() => {
    clearInterval(watch);
    progress.end();
  });
  if (stalled) throw new Error(`nothing arrived for ${STALL_MS / 1000} s`);
  if (code !== 0) {
    const lines = reason.split('\n').filter((line) => line.trim() !== '');
    // npm's output begins with the error code, pip's ends with the error.
    const telling = [...lines.slice(0, 1), ...lines.slice(1).slice(1 - REASON_LINES)];
    throw new Error(telling.join(' / ') || `the download ended with code ${code}`);
  }
}

async function folderSize(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => [] as string[]);
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      (found) => (found.isFile() ? found.size : 0),
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((total, size) => total + size, 0);
}
