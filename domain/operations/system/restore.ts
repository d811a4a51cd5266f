import { countRelations, damagedFiles, loadTables } from '../../../db/backup/load.ts';
import { connect } from '../../../db/connection.ts';
import { migrateTo, unknownMigrations } from '../../../db/migrations/index.ts';
import type { Config } from '../../../lib/config/index.ts';
import type { Keyring } from '../../../lib/keyring.ts';
import { VERSION } from '../../../lib/version.ts';
import { loadBlobs } from './backup-blobs.ts';
import { BackupError, missingKeys, readManifest, type Manifest } from './backup.ts';

/**
 * Writes a backup into the database of the settings, which must be empty. The database then has the schema of the
 * backup. Run `migrate` afterwards to update it to this build's schema. All checks run before the first write, and the
 * rows are written in one transaction.
 * @throws BackupError when the database is not empty, the backup is of a later release or damaged, or a key is missing
 */
export async function restoreRows(
  { config, keyring }: { config: Config; keyring: Keyring },
  folder: string,
  onTable?: (name: string, rows: number) => void,
): Promise<Manifest> {
  const manifest = await readManifest(folder);
  await refuseUnfit(manifest, { config, keyring }, folder);
  const db = connect({ url: config.PRIMARY_DB, max: 2, name: 'heron-restore' });
  try {
    await migrateTo(db, manifest.migrations);
  } finally {
    await db.destroy();
  }
  await loadTables(
    config.PRIMARY_DB,
    folder,
    manifest,
    (table) => onTable?.(table.name, table.rows),
    async (write) => {
      await loadBlobs(folder, manifest.blobs.files, write);
    },
  );
  return manifest;
}

async function refuseUnfit(
  manifest: Manifest,
  { config, keyring }: { config: Config; keyring: Keyring },
  folder: string,
): Promise<void> {
  const unknown = unknownMigrations(manifest.migrations);
  if (unknown.length > 0)
    throw new BackupError(
      `the backup was made by a later release (${manifest.version}; this one is ${VERSION}, and does not know ${unknown.join(', ')}): restore it with that release or a later one`,
    );
  const missing = missingKeys(manifest, keyring);
  if (missing.length > 0)
    throw new BackupError(
      `the backup needs ${missing.length === 1 ? 'a key' : 'keys'} that the settings do not have (${missing.join(', ')}; the settings have ${keyring.keyIds.join(', ')}). ` +
        `CREDENTIALS_ENCRYPTION_KEY of that installation was ${manifest.keys.current}: set it, and name further ones in CREDENTIALS_PREVIOUS_KEYS`,
    );
  const relations = await countRelations(config.PRIMARY_DB);
  if (relations > 0)
    throw new BackupError(
      `the database is not empty (${relations} tables and sequences): create another one, or drop and create this one, and do not migrate it`,
    );
  const damaged = await damagedFiles(folder, [
    ...manifest.tables.filter(({ rows }) => rows > 0),
    ...manifest.blobs.files,
  ]);
  if (damaged.length > 0)
    throw new BackupError(`the backup is damaged: ${damaged.join(', ')} missing, or not as written`);
}
