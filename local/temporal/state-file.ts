import { constants, copyFile, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  compareVersions,
  fetchCliOfServer,
  findCliOfServer,
  machineEnvironment,
  resolveTemporalCli,
  type CliEnvironment,
  type TemporalCli,
} from './cli.ts';
import { TEMPORAL } from './pins.ts';
import { tryStateFile } from './trial.ts';

/**
 * Suffixes of SQLite's files, in the order in which they are moved: files with unmerged changes first, the main file
 * last.
 */
const PARTS = ['-wal', '-shm', ''];

interface StateFileOptions {
  /**
   * Path of the development server's state file. A file next to it contains the server's version. The server must be
   * stopped.
   */
  dbFile: string;
  /**
   * True if the file may be upgraded to the pinned version. If that version cannot read the file, it starts with an
   * empty file.
   */
  upgrade: boolean;
  log: (line: string) => void;
  environment?: CliEnvironment;
  /**
   * Function that tests if a server can read a copy of the file. It rejects if the server cannot. Tests replace the
   * function.
   */
  tryOn?: typeof tryStateFile;
}

interface SettledStateFile {
  cli: TemporalCli;
  /** True if the server starts with an empty file. Workflows must then be restarted from PostgreSQL by `reconcile`. */
  startedOver: boolean;
}

/**
 * Chooses the server of an installation, which keeps the version of its first start, regardless of the `temporal` on
 * PATH. If that version is not on the machine, the pinned version is used, once it has opened a copy of the file. The
 * old file is kept as a backup.
 * @throws Error naming both versions and the solution when no server here can read the file
 * @throws PackageMismatchError when a download is not the pinned one
 */
export async function chooseStateFileServer(options: StateFileOptions): Promise<SettledStateFile> {
  const { dbFile, upgrade, log, environment = machineEnvironment() } = options;
  if (!(await exists(dbFile))) {
    const cli = await resolveTemporalCli(log, environment);
    await recordVersion(dbFile, cli);
    return { cli, startedOver: false };
  }
  const writtenBy = await readFile(`${dbFile}.version`, 'utf8').then(
    (text) => text.trim() || undefined,
    () => undefined,
  );
  if (writtenBy && !(upgrade && writtenBy !== TEMPORAL.server)) {
    const own = await findCliOfServer(writtenBy, log, environment);
    if (own) return { cli: own, startedOver: false };
  }

  const cli = await findSuccessor(log, environment);
  if (cli.server === writtenBy) return { cli, startedOver: false };
  const fault = await findFault(cli, writtenBy, options);
  if (fault === undefined) {
    await backUp(dbFile, writtenBy, log);
    await recordVersion(dbFile, cli);
    log(`Temporal: the state of ${nameOf(writtenBy)} opens with server ${cli.server}, which takes it over`);
    return { cli, startedOver: false };
  }
  log(`Temporal: server ${cli.server} cannot take over the state of ${nameOf(writtenBy)}: ${fault}`);
  if (!upgrade) {
    const own = writtenBy ? await fetchCliOfServer(writtenBy, log, environment) : undefined;
    if (own) return { cli: own, startedOver: false };
    throw new Error(refusal(dbFile, writtenBy, cli, fault));
  }
  if (isOlder(cli, writtenBy)) throw new Error(`Server ${TEMPORAL.server} is not to be had here. ${fault}`);
  const movedTo = `${dbFile}.${writtenBy ?? 'unknown'}-${Date.now()}`;
  for (const part of PARTS) await rename(`${dbFile}${part}`, `${movedTo}${part}`).catch(ignoreMissing);
  await recordVersion(dbFile, cli);
  log(`Temporal: the state was moved to ${movedTo}, and runs are started again from PostgreSQL`);
  return { cli, startedOver: true };
}

/** Returns a server of the pinned version, or any available one. */
async function findSuccessor(log: (line: string) => void, environment: CliEnvironment): Promise<TemporalCli> {
  return (
    (await findCliOfServer(TEMPORAL.server, log, environment)) ??
    (await fetchCliOfServer(TEMPORAL.server, log, environment)) ??
    (await resolveTemporalCli(log, environment))
  );
}

/**
 * Returns the reason why a server must not use a file; undefined if it may. Tests the server with a copy, so that the
 * file stays unchanged.
 */
async function findFault(
  cli: TemporalCli,
  writtenBy: string | undefined,
  { dbFile, log, tryOn = tryStateFile }: StateFileOptions,
): Promise<string | undefined> {
  if (isOlder(cli, writtenBy)) return `It has only server ${cli.server}, which is older.`;
  const folder = await mkdtemp(join(dirname(dbFile), 'trial-'));
  try {
    log(`Temporal: trying server ${cli.server} on a copy of the state of ${nameOf(writtenBy)}`);
    const copy = join(folder, basename(dbFile));
    await copyParts(dbFile, copy);
    await tryOn(cli, copy);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function backUp(dbFile: string, writtenBy: string | undefined, log: (line: string) => void): Promise<void> {
  const backup = `${dbFile}.${writtenBy ?? 'unknown'}-backup`;
  await copyParts(dbFile, backup);
  log(`Temporal: the state as it was is kept in ${backup}; delete it when all is well`);
}

async function copyParts(from: string, to: string): Promise<void> {
  for (const part of PARTS)
    await copyFile(`${from}${part}`, `${to}${part}`, constants.COPYFILE_FICLONE).catch(ignoreMissing);
}

function refusal(dbFile: string, writtenBy: string | undefined, cli: TemporalCli, fault: string): string {
  return [
    `Temporal's state (${dbFile}) was written by ${nameOf(writtenBy)}, and server ${cli.server} cannot take it over. Nothing was changed.`,
    'There are two ways on:',
    `  1. put a \`temporal\` program with ${nameOf(writtenBy)} on PATH, and start again;`,
    `  2. \`npm start -- --upgrade-temporal\`: moves the state aside, and starts its runs again from PostgreSQL on server ${TEMPORAL.server}.`,
    `(${fault})`,
  ].join('\n');
}

function isOlder(cli: TemporalCli, writtenBy: string | undefined): boolean {
  return writtenBy !== undefined && compareVersions(cli.server, writtenBy) < 0;
}

function nameOf(version: string | undefined): string {
  return version ? `server ${version}` : 'a server of unknown version';
}

async function recordVersion(dbFile: string, { server }: TemporalCli): Promise<void> {
  await mkdir(dirname(dbFile), { recursive: true });
  await writeFile(`${dbFile}.version`, `${server}\n`);
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
