import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { connectRaw, type Handle } from '../../db/connection.ts';
import { migrate } from '../../db/migrations/index.ts';
import { knexOf } from '../../db/raw.ts';
import { prepareTenantRole } from '../../db/row-security.ts';
import type { Assembly } from '../../deploy/assemble.ts';
import type { Deps } from '../../domain/platform/kernel/context.ts';
import { recordRead } from './recorded-reads.ts';

const MIGRATIONS = new URL('../../db/migrations/', import.meta.url);
const TEMPLATE_LOCK = 7_201_946;
/** If true, every suite runs with row-level security, not only the suites that request it. */
const ROW_SECURITY = process.env.HERON_TEST_ROW_SECURITY === 'true';

/** Pool without tenancy restrictions; only tests and measurements have one. */
export type RawDb = ReturnType<typeof connectRaw>;

/** Dependencies of a process, with an unrestricted pool. */
export type TestDeps = Omit<Deps, 'db'> & { db: RawDb };

/** Assembly of a process whose pool is unrestricted. */
export type TestAssembly = Omit<Assembly, 'deps'> & { deps: TestDeps };

/** Returns the same assembly with an unrestricted pool. */
export function withRawDb(assembly: Assembly): TestAssembly {
  return assembly as TestAssembly;
}

/** Returns the same pool or transaction without tenancy restrictions. */
export function rawDb(handle: Handle): RawDb {
  return knexOf(handle);
}

export interface TestDatabase {
  url: string;
  db: RawDb;
  drop(): Promise<void>;
}

/** Returns the URL of the test PostgreSQL, which `npm test` starts and passes on. */
export function testPostgresUrl(): string {
  const url = process.env.HERON_TEST_PG;
  if (!url)
    throw new Error(
      'HERON_TEST_PG is not set: run the suites with `npm test` (a single file: `npm test -- path/to/file.test.ts`)',
    );
  return url;
}

/** Creates a database for one test file, copied from a migrated template. */
export async function createTestDatabase({ rowSecurity = ROW_SECURITY } = {}): Promise<TestDatabase> {
  const adminUrl = testPostgresUrl();
  const template = `heron_template_${schemaHash()}`;
  const name = `heron_test_${randomBytes(6).toString('hex')}`;
  await connected(adminUrl, (admin) =>
    admin.transaction(async (trx) => {
      await trx.raw('select pg_advisory_xact_lock(?)', [TEMPLATE_LOCK]);
      const exists = await trx('pg_database').where({ datname: template }).first();
      if (!exists) await makeTemplate(adminUrl, template);
      // Runs outside the transaction that holds the lock, because PostgreSQL creates no database in a transaction. The
      // strategy `file_copy` takes half as long as copying through the log.
      await connected(adminUrl, async (copier) =>
        copier.raw(`create database ${name} template ${template} strategy file_copy`),
      );
    }),
  );
  return openDatabase(adminUrl, name, rowSecurity);
}

/** Creates a database without tables for one test file. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const adminUrl = testPostgresUrl();
  const name = `heron_test_${randomBytes(6).toString('hex')}`;
  await connected(adminUrl, async (admin) => admin.raw(`create database ${name}`));
  return openDatabase(adminUrl, name);
}

function openDatabase(adminUrl: string, name: string, rowSecurity = false): TestDatabase {
  const url = withDatabase(adminUrl, name);
  const db = connectRaw({ url, max: 20, name: 'heron-test', prepared: true, rowSecurity });
  db.on('query-response', (answer: unknown, { sql }: { sql: string }) => recordRead(sql, () => rowsIn(answer)));
  return {
    url,
    db,
    async drop() {
      await db.destroy();
      await connected(adminUrl, async (dropper) => dropper.raw(`drop database if exists ${name} with (force)`));
    },
  };
}

/** Returns the rows of an answer; an answer to `raw` also contains protocol data. */
function rowsIn(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null && 'rows' in answer ? answer.rows : answer;
}

async function makeTemplate(adminUrl: string, template: string): Promise<void> {
  const building = `${template}_building`;
  await connected(adminUrl, async (admin) => {
    await admin.raw(`drop database if exists ${building} with (force)`);
    await admin.raw(`create database ${building}`);
    await connected(withDatabase(adminUrl, building), async (db) => {
      await migrate(db);
      await prepareTenantRole(db);
    });
    await admin.raw(`alter database ${building} rename to ${template}`);
  });
}

async function connected<T>(url: string, work: (db: RawDb) => Promise<T>): Promise<T> {
  const db = connectRaw({ url, max: 2 });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

function withDatabase(url: string, name: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${name}`;
  return parsed.href;
}

function schemaHash(): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(MIGRATIONS, { recursive: true, encoding: 'utf8' }).sort())
    if (file.endsWith('.ts')) hash.update(readFileSync(new URL(file, MIGRATIONS)));
  return hash.digest('hex').slice(0, 12);
}
