import { connect } from '../db/connection.ts';
import { BackupError, makeBackup, type Manifest } from '../domain/operations/system/backup.ts';
import { holdRestored, type RestoreHolds } from '../domain/operations/system/after-restore.ts';
import { restoreRows } from '../domain/operations/system/restore.ts';
import { openBlobStores } from '../lib/blobs/index.ts';
import type { Config } from '../lib/config/index.ts';
import { createKeyring } from '../lib/keyring.ts';
import { silentLogger } from '../lib/log.ts';
import { assemble } from './assemble.ts';
import { migrateDatabase, OperatorError, reachDatabase, requireCurrentSchema } from './waiting.ts';

export interface RestoreReport extends RestoreHolds {
  takenAt: Date;
  rows: number;
  /** Names of the migrations that this build applied to the restored schema. */
  migrated: string[];
}

/**
 * `heron backup`: writes all data of Heron into a folder.
 * @throws OperatorError
 */
export async function backup(config: Config, folder: string, say: (line: string) => void): Promise<Manifest> {
  await withDatabase(config, requireCurrentSchema);
  const blobs = openBlobStores(config);
  try {
    return await orRefuse(() => makeBackup({ config, keyring: keyringOf(config), blobs }, folder, lineOf(say)));
  } finally {
    blobs.close();
  }
}

/**
 * `heron restore`: restores a backup into an empty database, migrates it, and holds all emails that may have been sent
 * after the backup.
 * @param stoppedAt time when the last process of the old installation ended; undefined if no process ran after the
 * backup
 * @throws OperatorError
 */
export async function restore(
  config: Config,
  folder: string,
  stoppedAt: Date | undefined,
  say: (line: string) => void,
): Promise<RestoreReport> {
  await withDatabase(config, async () => {});
  const manifest = await orRefuse(() => restoreRows({ config, keyring: keyringOf(config) }, folder, lineOf(say)));
  const migrated = await withDatabase(config, migrateDatabase);
  const { takenAt } = manifest;
  const held = await hold(config, { takenAt, stoppedAt: stoppedAt ?? takenAt });
  return { takenAt, rows: rowsOf(manifest), migrated, ...held };
}

/**
 * `heron restored`: holds all emails that may have been sent after `takenAt`, in a database restored by another
 * program.
 * @param times.takenAt time of the database's content
 * @param times.stoppedAt time when the last process of the old installation ended
 * @throws OperatorError
 */
export async function holdElsewhereRestored(
  config: Config,
  times: { takenAt: Date; stoppedAt: Date },
): Promise<RestoreHolds> {
  if (times.takenAt > times.stoppedAt)
    throw new OperatorError('the database cannot be of a moment after the installation stopped');
  await withDatabase(config, requireCurrentSchema);
  return hold(config, times);
}

async function hold(config: Config, times: { takenAt: Date; stoppedAt: Date }): Promise<RestoreHolds> {
  const assembly = assemble(config, 'heron', { log: silentLogger });
  try {
    return await holdRestored(assembly.deps, times);
  } finally {
    await assembly.close();
  }
}

/** Returns the output of `heron backup`. */
export function backupLines(manifest: Manifest, folder: string): string[] {
  return [
    `${folder}: ${rowsOf(manifest)} rows of ${manifest.tables.length} tables, as of ${manifest.takenAt.toISOString()}`,
    `It opens with the keys ${[...new Set([manifest.keys.current, ...manifest.keys.sealed])].join(', ')}, which are not in it.`,
    ...(manifest.blobs.files.length > 0
      ? [`${manifest.blobs.files.length} files that are kept outside of PostgreSQL`]
      : []),
    ...(manifest.blobs.missing.length > 0
      ? [
          `${manifest.blobs.missing.length} files are not in their store (deleted meanwhile, or lost before): ${manifest.blobs.missing.slice(0, 10).join(', ')}`,
        ]
      : []),
    ...(manifest.livingWorkers > 0
      ? [`${manifest.livingWorkers} worker(s) were at work: what they do from now on is not in it.`]
      : []),
  ];
}

/** Returns the output of `heron restore`: the result and the remaining steps. */
export function restoreLines(report: RestoreReport): string[] {
  return [
    `${report.rows} rows, as of ${report.takenAt.toISOString()}; ${report.migrated.length} migrations applied`,
    ...restoredLines(report),
  ];
}

/** Returns the output of `heron restored`: the held items and the remaining steps. */
export function restoredLines(report: RestoreHolds): string[] {
  return [
    ...(report.emailsInDoubt > 0
      ? [
          `${report.emailsInDoubt} emails may have left since: workers look for them in the Sent folders, \`heron uncertain\` lists the rest`,
        ]
      : []),
    ...(report.warmupInDoubt > 0
      ? [`${report.warmupInDoubt} warmup emails may have left since: they are not sent again`]
      : []),
    ...(report.campaignsPaused > 0
      ? [
          `${report.campaignsPaused} campaigns are paused: what they sent since is not known. Compare with the Sent folders, then start them`,
        ]
      : []),
    'Next: start the processes with an empty Temporal namespace, then `heron reconcile`.',
  ];
}

async function withDatabase<T>(config: Config, work: (db: ReturnType<typeof connect>) => Promise<T>): Promise<T> {
  const db = connect({ url: config.PRIMARY_DB, max: 2, name: 'heron-cli', rowSecurity: config.ROW_SECURITY });
  try {
    await reachDatabase(db, config.PRIMARY_DB);
    return await work(db);
  } finally {
    await db.destroy();
  }
}

async function orRefuse<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof BackupError ? new OperatorError(error.message) : error;
  }
}

function keyringOf(config: Config) {
  return createKeyring(config.CREDENTIALS_ENCRYPTION_KEY, config.CREDENTIALS_PREVIOUS_KEYS);
}

function rowsOf({ tables }: Manifest): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

function lineOf(say: (line: string) => void): (name: string, rows: number) => void {
  return (name, rows) => {
    if (rows > 0) say(`${name}: ${rows}`);
  };
}
