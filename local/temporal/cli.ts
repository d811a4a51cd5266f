import { execFile } from 'node:child_process';
import { access, chmod, constants, mkdir, readdir, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { downloadCli } from './download.ts';
import { buildCli } from './go-build.ts';
import { withFileLock } from '../../lib/file-lock.ts';

const run = promisify(execFile);

/** The Temporal CLI that `local/temporal/go/go.mod` pins and that is built where nothing else is to be had. */
export const TEMPORAL_CLI_VERSION = '1.8.2';

/** The oldest server inside a CLI that knows everything Heron's workflows use. */
const OLDEST_SERVER = [1, 27] as const;

const PROGRAM = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

export type CliSource = 'path' | 'cache' | 'sdk-download' | 'go-build';

export interface TemporalCli {
  path: string;
  source: CliSource;
}

/** Where the parts of the resolution look and reach; given by tests, the machine's own otherwise. */
export interface CliEnvironment {
  /** The directories of PATH. */
  searchPath: string[];
  /** Holds one folder per CLI version. */
  cacheDir: string;
  download: typeof downloadCli;
  build: typeof buildCli;
}

/**
 * Finds the Temporal CLI, whose development server Heron brings along, or makes one. The order: on PATH;
 * in Heron's cache; the SDK's own download; a Go build of the pinned official module. What is made is
 * cached, once for all processes that start together. TEMPORAL_ADDRESS, the first way to have a Temporal
 * server, is for the caller: a server that exists needs no CLI.
 *
 * @param log receives one line per step, with the reason when a step gives nothing
 * @throws Error naming the four ways when none works
 */
export async function resolveTemporalCli(
  log: (line: string) => void,
  environment: CliEnvironment = machineEnvironment(),
): Promise<TemporalCli> {
  const ready = (await findOnPath(log, environment)) ?? (await findInCache(log, environment, 'say'));
  if (ready) return ready;
  return withFileLock(
    join(environment.cacheDir, 'fetch.lock'),
    (holder) => log(`Temporal: process ${holder} is fetching the server already; waiting for it`),
    async () => (await findInCache(log, environment, 'quiet')) ?? (await fetchCli(log, environment)),
  );
}

async function fetchCli(log: (line: string) => void, environment: CliEnvironment): Promise<TemporalCli> {
  const reasons: string[] = [];
  for (const [source, fetch] of [
    ['sdk-download', environment.download],
    ['go-build', environment.build],
  ] as const) {
    try {
      const made = await fetch({ scratchDir: environment.cacheDir, version: TEMPORAL_CLI_VERSION, log });
      const path = await keep(made, environment.cacheDir);
      log(`Temporal: kept in ${path}`);
      return { path, source };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      reasons.push(`${source}: ${reason}`);
      log(`Temporal: no server from ${source}: ${reason}`);
    }
  }
  throw new Error(
    [
      'No Temporal server could be found or made. There are four ways to have one:',
      '  1. set TEMPORAL_ADDRESS to a running server (a cluster or Temporal Cloud);',
      '  2. put the official `temporal` command line program on PATH;',
      '  3. let the SDK download it, which needs a way to temporal.download;',
      '  4. install Go, which builds it from the official module through a Go module proxy.',
      ...reasons.map((reason) => `  (${reason})`),
    ].join('\n'),
  );
}

async function findOnPath(log: (line: string) => void, environment: CliEnvironment): Promise<TemporalCli | undefined> {
  for (const directory of environment.searchPath) {
    const path = join(directory, PROGRAM);
    const refusal = await findFault(path);
    if (refusal === undefined) {
      log(`Temporal: using ${path}, found on PATH`);
      return { path, source: 'path' };
    }
    if (refusal !== 'missing') log(`Temporal: not using ${path} from PATH: ${refusal}`);
  }
  log('Temporal: no usable `temporal` on PATH');
  return undefined;
}

/** The pinned version first, then whichever other version an earlier download left. */
async function findInCache(
  log: (line: string) => void,
  environment: CliEnvironment,
  verbosity: 'say' | 'quiet',
): Promise<TemporalCli | undefined> {
  const versions = await readdir(environment.cacheDir).catch(() => [] as string[]);
  const byPreference = versions.toSorted((a, b) => compareVersions(b, a));
  for (const version of new Set([TEMPORAL_CLI_VERSION, ...byPreference])) {
    const path = join(environment.cacheDir, version, PROGRAM);
    const refusal = await findFault(path);
    if (refusal === undefined) {
      log(`Temporal: using ${path}, cached by an earlier start`);
      return { path, source: 'cache' };
    }
    if (refusal !== 'missing') log(`Temporal: not using ${path} from the cache: ${refusal}`);
  }
  if (verbosity === 'say') log(`Temporal: nothing cached in ${environment.cacheDir}`);
  return undefined;
}

/** Why a program is not usable as the CLI, or undefined when it is. */
async function findFault(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK);
  } catch {
    return 'missing';
  }
  try {
    const { server } = await readVersions(path);
    const [major = 0, minor = 0] = server.split('.').map(Number);
    const old = major < OLDEST_SERVER[0] || (major === OLDEST_SERVER[0] && minor < OLDEST_SERVER[1]);
    return old ? `its server ${server} is older than ${OLDEST_SERVER.join('.')}` : undefined;
  } catch (error) {
    return error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
  }
}

/** The versions of a CLI and of the server inside it. */
export async function readVersions(path: string): Promise<{ cli: string; server: string }> {
  const { stdout } = await run(path, ['--version'], { timeout: 20_000 });
  const match = /temporal version (\S+) \(Server (\d+\.\d+[^,)\s]*)/.exec(stdout);
  if (!match) throw new Error('it does not say which Temporal server it holds');
  return { cli: match[1]!, server: match[2]! };
}

/** Moves a program to its place in the cache in one step, so no process ever runs half a file. */
async function keep(made: string, cacheDir: string): Promise<string> {
  await chmod(made, 0o755);
  const path = join(cacheDir, (await readVersions(made)).cli, PROGRAM);
  await mkdir(dirname(path), { recursive: true });
  await rename(made, path);
  return path;
}

function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

function machineEnvironment(): CliEnvironment {
  const cacheHome = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return {
    searchPath: (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== ''),
    cacheDir: join(cacheHome, 'heron', 'temporal'),
    download: downloadCli,
    build: buildCli,
  };
}
