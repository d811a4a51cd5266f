import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { awaitDownload } from '../packages/arrival.ts';
import type { FetchOptions } from '../packages/fetch.ts';
import { forkSource } from '../typescript.ts';

/**
 * Downloads the official CLI in this `version` with the Temporal SDK. The SDK's native download cannot be interrupted,
 * so it runs in a separate process, which is ended when no data arrives for 20 seconds.
 * @returns the path of the downloaded program, below `cacheDir`
 * @throws Error with the SDK's reason, or when the download stalls
 */
export async function downloadCli(version: string, { cacheDir, log }: FetchOptions): Promise<string> {
  await mkdir(cacheDir, { recursive: true });
  const downloadDir = await mkdtemp(join(cacheDir, 'download-'));
  log(`Temporal: asking the SDK to download the official CLI ${version}`);
  try {
    const script = fileURLToPath(new URL('./sdk-download.ts', import.meta.url));
    const child = forkSource(script, [downloadDir, `v${version}`], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    await awaitDownload(child, downloadDir, 'Temporal', log);
    const [name] = await readdir(downloadDir);
    if (!name) throw new Error('the SDK reported success but left no file');
    const path = join(cacheDir, `downloaded-${process.pid}`);
    await rename(join(downloadDir, name), path);
    return path;
  } finally {
    await rm(downloadDir, { recursive: true, force: true });
  }
}
