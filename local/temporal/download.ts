import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { forkSource } from '../typescript.ts';
import { showProgress } from './progress.ts';

/** A machine without a way out gets no refusal from some networks, only silence. */
const STALL_MS = 20_000;
const POLL_MS = 250;

export interface FetchOptions {
  /** A directory on the file system the result will stay on. */
  scratchDir: string;
  /** The pinned CLI version. */
  version: string;
  log: (line: string) => void;
}

/**
 * Has the Temporal SDK download the official CLI of the version the SDK was released with.
 *
 * The SDK downloads in native code that cannot be interrupted, so it runs in a process of its own, which is
 * ended when nothing arrives for 20 seconds.
 *
 * @returns the path of the downloaded program, below `scratchDir`
 * @throws Error with the SDK's reason, or when the download stalls
 */
export async function downloadCli({ scratchDir, log }: FetchOptions): Promise<string> {
  await mkdir(scratchDir, { recursive: true });
  const downloadDir = await mkdtemp(join(scratchDir, 'download-'));
  log('Temporal: asking the SDK to download the official CLI');
  let bytes = 0;
  const progress = showProgress(log, (seconds) => `Temporal: downloading, ${megabytes(bytes)} MB, ${seconds} s`);
  try {
    await runDownload(downloadDir, (size) => (bytes = size));
    const [name] = await readdir(downloadDir);
    if (!name) throw new Error('the SDK reported success but left no file');
    const path = join(scratchDir, `downloaded-${process.pid}`);
    await rename(join(downloadDir, name), path);
    return path;
  } finally {
    progress.end();
    await rm(downloadDir, { recursive: true, force: true });
  }
}

async function runDownload(downloadDir: string, onSize: (bytes: number) => void): Promise<void> {
  const script = fileURLToPath(new URL('./sdk-download.ts', import.meta.url));
  const child = forkSource(script, [downloadDir], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let complaint = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-4000)));
  child.on('message', (message) => {
    if (typeof message === 'string') complaint = message;
  });

  let stalled = false;
  let size = 0;
  let movedAt = Date.now();
  const watch = setInterval(() => {
    void measureFolder(downloadDir).then((now) => {
      if (now !== size) movedAt = Date.now();
      size = now;
      onSize(now);
      if (Date.now() - movedAt > STALL_MS) {
        stalled = true;
        child.kill('SIGKILL');
      }
    });
  }, POLL_MS);

  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).finally(() => clearInterval(watch));
  if (stalled) throw new Error(`nothing arrived for ${STALL_MS / 1000} s`);
  if (code !== 0) throw new Error(complaint.trim() || `the download ended with code ${code}`);
}

async function measureFolder(directory: string): Promise<number> {
  let total = 0;
  for (const name of await readdir(directory).catch(() => [] as string[])) {
    total += await stat(join(directory, name)).then(
      (found) => found.size,
      () => 0,
    );
  }
  return total;
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}
