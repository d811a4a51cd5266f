import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** API client made by another project's generator, and a program that uses it. */
export interface ForeignClient {
  name: string;
  /** Returns the reason why it cannot be generated on this machine; undefined if it can. Fetches its requirements. */
  missing(): Promise<string | undefined>;
  /**
   * Generates the client into a new folder.
   * @throws Error with the output of the failing generator, or of the compiler of its code
   */
  generate(document: string, folder: string): Promise<GeneratedClient>;
}

interface GeneratedClient {
  /** Output of the generator. */
  said: string;
  /**
   * Runs the program and returns its output.
   * @throws Error with its output when it fails
   */
  run(env: Record<string, string>): Promise<string>;
}

const MAX_OUTPUT = 64 * 1024 * 1024;

/**
 * Runs a program to its end and returns both of its outputs together.
 * @throws Error with the outputs when it fails
 */
export async function output(
  program: string,
  args: readonly string[],
  { cwd, env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...process.env, ...env },
      maxBuffer: MAX_OUTPUT,
    });
    return stdout + stderr;
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(stdout + stderr || message, { cause: error });
  }
}
