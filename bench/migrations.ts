import { randomBytes } from 'node:crypto';
import { migrateTo, MIGRATIONS } from '../db/migrations/index.ts';
import { connectRaw } from '../db/connection.ts';
import type { RawDb } from '../test/harness/database.ts';
import { fillSchema } from '../test/harness/filled-schema.ts';
import { measureMigration } from '../test/harness/migration.ts';
import type { BenchContext, BenchResult } from './context.ts';
import { timed } from './measure.ts';

/** Factor by which a duration may exceed the stated one, which was measured on another machine. */
const TOLERANCE = 3;
const LEAST_SECONDS = 1;

/**
 * Measures the duration of the baseline. For each later migration, measures the time for which it holds its locks, with
 * a million rows in every locked table. All migrations run in one database; a table is filled before the first
 * migration that locks it.
 */
export async function run(context: BenchContext): Promise<BenchResult> {
  const rows = context.quick ? 10_000 : 1_000_000;
  const result: BenchResult = { figures: [], targets: [], raw: { rows } };
  const [baseline, ...later] = MIGRATIONS;
  await onOwnDatabase(context, async (db) => {
    const baselineMs = await timed(() => migrateTo(db, [baseline!.name]));
    result.figures.push({ label: `${baseline!.name}, in an empty database`, value: `${Math.round(baselineMs)} ms` });
    const filled = new Set<string>();
    for (const migration of later) {
      const { locks, secondsAtMillionRows: stated, rowsDoNotMatter } = migration.impact!;
      const empty = rowsDoNotMatter ? [] : Object.keys(locks).filter((table) => !filled.has(table));
      for (const table of empty) {
        const ms = await timed(() => fillSchema(db, rows, [table]));
        context.log(`${table}: filled in ${(ms / 1000).toFixed(0)} s`);
        filled.add(table);
      }
      // Prevents PostgreSQL from writing the filled pages during the measurement.
      await db.raw('checkpoint');
      const seconds = (await measureMigration(db, migration)).durationMs / 1000;
      context.log(`${migration.name}: ${seconds.toFixed(2)} s`);
      const tables = Object.entries(locks).map(([table, lock]) => `${table} (${lock})`);
      result.figures.push({
        label: rowsDoNotMatter
          ? `${migration.name}, whatever is in the ${tables.length} tables it locks`
          : `${migration.name}, ${rows} rows in each of ${tables.length} tables it locks`,
        value: `${seconds.toFixed(2)} s; locks: ${rowsDoNotMatter ? 'AccessExclusiveLock on each' : tables.join(', ') || 'none'}`,
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
  });
  return result;
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
