import { fork, type ChildProcess, type ForkOptions } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const RUNNER = fileURLToPath(new URL('../bundle/run.mjs', import.meta.url));

/** Arguments with which Node runs a TypeScript file of the project. The path of the file and its arguments follow. */
export const TYPESCRIPT: readonly string[] = [RUNNER];

/** Starts a TypeScript file of the project as a child process with a message channel. */
export function forkSource(file: string, args: readonly string[], options: ForkOptions): ChildProcess {
  return fork(RUNNER, [file, ...args], options);
}
