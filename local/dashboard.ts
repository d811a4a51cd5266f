import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isDashboardFresh } from '../web/build.ts';
import { TYPESCRIPT } from './typescript.ts';

const BUILD = fileURLToPath(new URL('../web/ensure-dashboard.ts', import.meta.url));

/**
 * Builds the dashboard in a separate process unless it is current. A build in a long-running process would keep
 * hundreds of megabytes of memory.
 * @returns true if it was built
 * @throws Error with the build's output when it fails
 */
export async function ensureDashboardInChild(): Promise<boolean> {
  if (await isDashboardFresh()) return false;
  try {
    await promisify(execFile)(process.execPath, [...TYPESCRIPT, BUILD], { maxBuffer: Infinity });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`The dashboard could not be built:\n${stdout}${stderr}`, { cause: error });
  }
  return true;
}
