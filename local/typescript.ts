import { fork, type ChildProcess, type ForkOptions } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const RUNNER = fileURLToPath(new URL('../bundle/run.mjs', import.meta.url));

/** Arguments that make Node run a TypeScript file of the project, followed by its path and arguments. */
export const TYPESCRIPT: readonly string[] = [RUNNER];

/** Starts a TypeScript file of the project as a child process with a message channel. */
export function forkSource(file: string, args: readonly string[], options: ForkOptions): ChildProcess {
  return fork(RUNNER, [file, ...args], options);
}
