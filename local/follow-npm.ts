import { spawnSync } from 'node:child_process';
import { isAlive } from './alive.ts';

/** How often (ms) it is looked whether npm, which started this process, is still there. */
const LOOK_MS = 1_000;

/**
 * Asks this process to stop (SIGTERM) once npm is gone that runs it as a script. npm that is killed passes no signal on, and one
 * that passes it on reaches the shell it runs scripts in, which may end alone; what was started would stay behind.
 */
export function followNpm(): void {
  const parent = process.ppid;
  if (!process.env.npm_lifecycle_event || parent === 1 || process.platform === 'win32') return;
  const npm = npmAbove(parent);
  const look = setInterval(() => {
    if (process.ppid === parent && isAlive(npm)) return;
    clearInterval(look);
    process.kill(process.pid, 'SIGTERM');
  }, LOOK_MS);
  look.unref();
}

/** The parent itself, or what started it where that is the shell of a script: not every shell makes way for its command. */
function npmAbove(parent: number): number {
  const { stdout } = spawnSync('ps', ['-o', 'ppid=,args=', '-p', String(parent)], { encoding: 'utf8' });
  const [, above, command = ''] = /^\s*(\d+)\s+(.*)/.exec(stdout ?? '') ?? [];
  return / -c /.test(command) && Number(above) > 1 ? Number(above) : parent;
}
