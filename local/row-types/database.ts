import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectRaw } from '../../db/connection.ts';
import { migrate } from '../../db/migrations/index.ts';
import { startEmbeddedPostgres } from '../postgres.ts';

/** Runs work with a fully migrated database on a temporary PostgreSQL. */
export async function withMigratedDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'heron-row-types-'));
  // If this process is root, PostgreSQL runs under its own account, which must be able to enter the folder.
  await chmod(folder, 0o711);
  try {
    const server = await startEmbeddedPostgres({
      dataDir: join(folder, 'postgres'),
      persistent: false,
      log: () => undefined,
    });
    try {
      await onNewDatabase(server.url, work);
    } finally {
      await server.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function onNewDatabase(adminUrl: string, work: (url: string) => Promise<void>): Promise<void> {
  const name = `heron_row_types_${randomBytes(4).toString('hex')}`;
  await connected(adminUrl, (admin) => admin.raw(`create database ${name}`));
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  await connected(url.href, migrate);
  await work(url.href);
}

async function connected(
  url: string,
  work: (db: ReturnType<typeof connectRaw>) => PromiseLike<unknown>,
): Promise<void> {
  const db = connectRaw({ url, max: 1 });
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
}
