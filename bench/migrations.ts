import { randomBytes } from 'node:crypto';
import { migrate, MIGRATIONS, type Migration } from '../db/migrations/index.ts';
import { connectRaw } from '../db/connection.ts';
import type { RawDb } from '../test/harness/database.ts';
import { fillSchema } from '../test/harness/filled-schema.ts';
import { measureMigration } from '../test/harness/migration.ts';
import type { BenchContext, BenchResult } from './context.ts';

/** The stated duration is of one machine; this much more is still as stated. */
const TOLERANCE = 3;
const LEAST_SECONDS = 1;

/** How long each migration since 0008 holds its locks, with a million rows in every table it locks. */
export async function run(context: BenchContext): Promise<BenchResult> {
  const rows = context.quick ? 10_000 : 1_000_000;
  const result: BenchResult = { figures: [], targets: [], raw: { rows } };
  for (const [index, migration] of MIGRATIONS.entries()) {
    if (!migration.impact) continue;
    const seconds = await onOwnDatabase(context, (db) =>
      measure(db, MIGRATIONS[index - 1]!.name, migration, rows, context.log),
    );
    const { locks, secondsAtMillionRows: stated } = migration.impact;
    const tables = Object.entries(locks).map(([table, lock]) => `${table} (${lock})`);
    result.figures.push({
      label: `${migration.name}, ${rows} rows in each of ${tables.length} tables it locks`,
      value: `${seconds.toFixed(2)} s; locks: ${tables.join(', ') || 'none'}`,
    });
    const most = Math.max(LEAST_SECONDS, stated * TOLERANCE);
    result.targets.push({
      what: `${migration.name}: about as long as it states`,
      target: `<= ${most} s (states ${stated} s)`,
      got: `${seconds.toFixed(2)} s`,
      met: seconds <= most,
    });
    result.raw[migration.name] = { seconds, locks };
  }
  return result;
}

async function measure(
  db: RawDb,
  before: string,
  migration: Migration,
  rows: number,
  log: (line: string) => void,
): Promise<number> {
  await migrate(db, before);
  const filled = await fillSchema(db, rows, Object.keys(migration.impact!.locks));
  const { durationMs } = await measureMigration(db, migration);
  log(`${migration.name}: ${(durationMs / 1000).toFixed(2)} s with ${filled.join(', ') || 'nothing'} filled`);
  return durationMs / 1000;
}

async function onOwnDatabase<T>({ stack }: BenchContext, work: (db: RawDb) => Promise<T>): Promise<T> {
  const name = `heron_bench_${randomBytes(4).toString('hex')}`;
  const url = new URL(stack.env.PRIMARY_DB!);
  const admin = connectRaw({ url: url.href, max: 1 });
  await admin.raw(`create database ${name}`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  const db = connectRaw({ url: own.href, max: 2 });
  try {
    return await work(db);
  } finally {
    await db.destroy();
    await admin.raw(`drop database if exists ${name} with (force)`);
    await admin.destroy();
  }
}
