import { spawnSync } from 'node:child_process';
import { isAlive } from './alive.ts';

/** Interval (ms) of checking that the npm process that started this one is still running. */
const POLL_MS = 1_000;

/**
 * Sends this process SIGTERM once the npm process that runs it as a script has ended. A killed npm forwards no signal,
 * and a forwarded signal may end only the script's shell.
 */
export function exitWithNpm(): void {
  const parent = process.ppid;
  if (!process.env.npm_lifecycle_event || parent === 1 || process.platform === 'win32') return;
  const npm = npmAbove(parent);
  const look = setInterval(() => {
    if (process.ppid === parent && isAlive(npm)) return;
    clearInterval(look);
    process.kill(process.pid, 'SIGTERM');
  }, POLL_MS);
  look.unref();
}

/** Returns the pid of npm. It is the parent or, if the script's shell is still running, the parent of that shell. */
function npmAbove(parent: number): number {
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,args=', '-p', String(parent)], { encoding: 'utf8' });
  const [, above, command = ''] = /^\s*(\d+)\s+(.*)/.exec(stdout ?? '') ?? [];
  return / -c /.test(command) && Number(above) > 1 ? Number(above) : parent;
}
