import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { TYPESCRIPT } from '../../local/typescript.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HERON = fileURLToPath(new URL('../../deploy/heron.ts', import.meta.url));

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the operator's command line in a process with settings in its environment. */
export function heron(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [...TYPESCRIPT, HERON, ...args],
      { cwd: ROOT, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}
