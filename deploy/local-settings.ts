import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FILE = 'settings.json';

/** The data folder of `npm start`: HERON_DATA_DIR, or .heron/data beside the sources. */
export function localDataDir(env: Record<string, string | undefined> = process.env): string {
  return resolve(env.HERON_DATA_DIR || join(ROOT, '.heron', 'data'));
}

/**
 * Keeps the settings of a local installation in its data folder, readable by their owner only, so that the operator's
 * command line meets the same database with the same secrets.
 */
export async function keepLocalSettings(dataDir: string, settings: Record<string, string>): Promise<void> {
  const file = join(dataDir, FILE);
  await mkdir(dataDir, { recursive: true });
  // Written beside it and renamed: a reader never meets half a file.
  await writeFile(`${file}.new`, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}

export interface LocalSettings {
  dataDir: string;
  /** Settings of the local installation that the environment does not give itself. */
  values: Record<string, string>;
}

/**
 * What the command line takes from the local installation. Undefined where there is none, and where the environment names another
 * database or production: settings of two installations are never mixed.
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
