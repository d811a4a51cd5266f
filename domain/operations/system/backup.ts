import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { dumpTables, type SnapshotQuery } from '../../../db/backup/dump.ts';
import type { BlobStores } from '../../../lib/blobs/index.ts';
import type { Config } from '../../../lib/config/index.ts';
import { keyIdOf, type Keyring } from '../../../lib/keyring.ts';
import { VERSION } from '../../../lib/version.ts';
import { BackupError } from './backup-error.ts';
import { blobsOutside, dumpBlobs, type OutsideBlob } from './backup-blobs.ts';
import { SEALED_COLUMNS } from './rotate-keys.ts';

/** File that describes a backup. It is written last, so a folder without it is not a complete backup. */
const MANIFEST = 'manifest.json';
/** Version of the file format. Unknown versions are refused. */
const FORMAT = 1;
/** A worker is treated as alive if it has written to its row within this time (ms). */
const ALIVE_MS = 8_000;

const manifestSchema = z.object({
  format: z.literal(FORMAT),
  /** Release that created the backup. */
  version: z.string(),
  takenAt: z.coerce.date(),
  postgres: z.string(),
  migrations: z.array(z.string()).min(1),
  keys: z.object({
    /**
     * Id of the CREDENTIALS_ENCRYPTION_KEY at the time of the backup. Links in sent emails are signed with this key.
     */
    current: z.string(),
    /** Ids of the keys with which stored values are encrypted. */
    sealed: z.array(z.string()),
  }),
  /** Number of live workers at the time of the backup. What they did afterwards is not in the backup. */
  livingWorkers: z.number(),
  tables: z.array(
    z.object({
      name: z.string(),
      columns: z.array(z.string()),
      rows: z.number(),
      file: z.string().regex(/^tables\/[a-z0-9_]+\.copy\.gz$/),
      sizeBytes: z.number(),
      sha256: z.string(),
    }),
  ),
  sequences: z.record(z.string(), z.string()),
  /** Files outside PostgreSQL. Absent in older backups. */
  blobs: z
    .object({
      files: z.array(
        z.object({
          id: z.guid(),
          file: z.string().regex(/^blobs\/[0-9a-f-]{36}$/),
          sizeBytes: z.number(),
          sha256: z.string(),
        }),
      ),
      /** Ids of files that are missing in their store. They were deleted during the backup, or lost before. */
      missing: z.array(z.string()),
    })
    .default({ files: [], missing: [] }),
});

/** Description of a backup. Contains no secrets. */
export type Manifest = z.output<typeof manifestSchema>;

export { BackupError } from './backup-error.ts';

/**
 * Writes all data of Heron into a folder: a consistent snapshot of PostgreSQL's rows, and their files in other stores.
 * The installation may run during the backup. A backup contains only the ids of keys, so CREDENTIALS_ENCRYPTION_KEY
 * must be stored elsewhere.
 * @param folder a new or empty folder
 * @throws BackupError when the folder is not empty, or a file store does not respond
 */
export async function makeBackup(
  { config, keyring, blobs }: { config: Config; keyring: Keyring; blobs: BlobStores },
  folder: string,
  onTable?: (name: string, rows: number) => void,
): Promise<Manifest> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new BackupError(`${folder} is not empty: name a new folder`);
  await mkdir(join(folder, 'tables'), { mode: 0o700 });
  let sealed: string[] = [];
  let livingWorkers = 0;
  let outside: OutsideBlob[] = [];
  const { takenAt, server, migrations, tables, sequences } = await dumpTables(
    config.PRIMARY_DB,
    folder,
    async (look) => {
      sealed = await keysInUse(look);
      livingWorkers = await countLiving(look);
      outside = await blobsOutside(look);
    },
    (table) => onTable?.(table.name, table.rows),
  );
  const manifest: Manifest = {
    format: FORMAT,
    version: VERSION,
    takenAt,
    postgres: server,
    migrations,
    keys: { current: keyring.keyIds[0]!, sealed },
    livingWorkers,
    tables,
    sequences,
    blobs: await dumpBlobs(blobs, outside, folder),
  };
  await writeManifest(folder, manifest);
  return manifest;
}

/** @throws BackupError when the folder contains no backup, or one in a format that this release cannot read */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => {
    throw new BackupError(`${folder} has no ${MANIFEST}: it is no backup, or one that was not finished`);
  });
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new BackupError(`${MANIFEST} of ${folder} is damaged`);
  }
  const read = manifestSchema.safeParse(content);
  if (read.success) return read.data;
  throw new BackupError(
    (content as { format?: unknown }).format === FORMAT
      ? `${MANIFEST} of ${folder} is damaged: ${read.error.issues[0]!.path.join('.')}`
      : `${folder} is a backup in a form that this release (${VERSION}) does not know: restore it with the release that wrote it`,
  );
}

/** Returns the ids of keys that a backup needs and the settings lack. */
export function missingKeys({ keys }: Manifest, keyring: Pick<Keyring, 'keyIds'>): string[] {
  return [...new Set([keys.current, ...keys.sealed])].filter((id) => !keyring.keyIds.includes(id));
}

async function keysInUse(look: SnapshotQuery): Promise<string[]> {
  const found = new Set<string>();
  for (const { table, column } of SEALED_COLUMNS) {
    const rows = await look<{ prefix: Buffer }>(
      `select distinct substring(${column} from 1 for 5) as prefix from ${table} where ${column} is not null`,
    );
    for (const { prefix } of rows) {
      const id = keyIdOf(prefix);
      if (id) found.add(id);
    }
  }
  return [...found].sort();
}

async function countLiving(look: SnapshotQuery): Promise<number> {
  const [row] = await look<{ count: number }>(
    `select count(*)::int as count from workers where seen_at > now() - $1 * interval '1 ms'`,
    [ALIVE_MS],
  );
  return row!.count;
}

async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const draft = join(folder, `${MANIFEST}.draft`);
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, join(folder, MANIFEST));
}
