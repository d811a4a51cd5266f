import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { lockHolder, type LockHolder } from '../lib/folder-lock.ts';
import { OperatorError } from './waiting.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILE = 'settings.json';
/** Time (ms) that a command waits for a starting installation. */
const START_PATIENCE_MS = 120_000;
const POLL_MS = 500;

/** Returns the data folder of `npm start`: HERON_DATA_DIR, or .heron/data in the folder of the sources. */
export function localDataDir(env: Record<string, string | undefined> = process.env): string {
  return resolve(env.HERON_DATA_DIR || join(ROOT, '.heron', 'data'));
}

/**
 * Stores the settings of a local installation in its data folder, readable only by their owner. The operator's command
 * line then uses the same database and secrets.
 */
export async function storeLocalSettings(dataDir: string, settings: Record<string, string>): Promise<void> {
  const file = join(dataDir, FILE);
  await mkdir(dataDir, { recursive: true });
  // Writes to another file name and renames the file, so that no reader sees a partial file.
  await writeFile(`${file}.new`, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

interface LocalSettings {
  dataDir: string;
  /** Settings of the local installation that the environment does not define. */
  values: Record<string, string>;
}

/**
 * Returns the settings of the local installation for the command line. Undefined if there is none, or if the
 * environment names another database or production: settings of two installations are never mixed.
 */
export function localSettings(env: Record<string, string | undefined> = process.env): LocalSettings | undefined {
  const dataDir = localDataDir(env);
  const file = join(dataDir, FILE);
  if (env.APP_ENV === 'prod' || !existsSync(file)) return undefined;
  const kept = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  if (env.PRIMARY_DB && env.PRIMARY_DB !== kept.PRIMARY_DB) return undefined;
  const values = Object.fromEntries(Object.entries(kept).filter(([name]) => !env[name]));
  return Object.keys(values).length > 0 ? { dataDir, values } : undefined;
}

/** State of `npm start` on the data folder. It is `starting` until `npm start` has stored its settings. */
type LocalState = ({ state: 'starting' | 'running' } & LockHolder) | { state: 'stopped' };

/** Reads the state of the installation from the data folder's lock and the time of its settings. */
export async function localState(dataDir: string): Promise<LocalState> {
  const holder = await lockHolder(dataDir);
  if (!holder) return { state: 'stopped' };
  const kept = await stat(join(dataDir, FILE)).catch(() => undefined);
  return { state: kept && kept.mtime >= holder.since ? 'running' : 'starting', ...holder };
}

/**
 * Waits while `npm start` is starting, so that no command reads the settings of an earlier start. Does nothing if the
 * environment names a database or production.
 * @param say receives one line if a wait is needed
 * @throws OperatorError when the installation is still starting after `patienceMs`
 */
export async function waitForLocalStart(
  say: (line: string) => void,
  env: Record<string, string | undefined> = process.env,
  patienceMs = START_PATIENCE_MS,
): Promise<void> {
  if (env.APP_ENV === 'prod' || env.PRIMARY_DB) return;
  const dataDir = localDataDir(env);
  const deadline = Date.now() + patienceMs;
  for (let isFirst = true; ; isFirst = false) {
    const local = await localState(dataDir);
    if (local.state !== 'starting') return;
    const who = `\`npm start\` (pid ${local.pid}) is coming up on ${dataDir}`;
    if (Date.now() >= deadline)
      throw new OperatorError(`${who} and is not ready after ${patienceMs / 1000} s: its terminal shows what it does`);
    if (isFirst) say(`${who}: waiting for it, at most ${patienceMs / 1000} s`);
    await sleep(POLL_MS);
  }
}
