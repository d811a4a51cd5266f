import { HEAVY_LOCKS, type HeavyLock } from '../../db/migration-impact.ts';
import type { Migration } from '../../db/migrations/index.ts';
import type { RawDb } from './database.ts';

interface MeasuredMigration {
  /** Strongest lock on each table that existed before the migration. */
  locks: Record<string, HeavyLock>;
  /** Duration (ms) from the migration's first statement to its commit. */
  durationMs: number;
}

/** Runs one migration like {@link migrate}, in its own transaction, and reads the locks that it holds at its end. */
export async function measureMigration(db: RawDb, migration: Migration): Promise<MeasuredMigration> {
  const startedAt = performance.now();
  const locks = await db.transaction(async (trx) => {
    const { rows: before } = (await trx.raw(
      `select oid, relname as name from pg_class
       where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`,
    )) as { rows: { oid: number; name: string }[] };
    await migration.up(trx);
    const { rows } = (await trx.raw(
      `select l.relation as oid, l.mode from pg_locks l
       where l.pid = pg_backend_pid() and l.locktype = 'relation' and l.relation = any(?)`,
      [before.map(({ oid }) => oid)],
    )) as { rows: { oid: number; mode: string }[] };
    // Uses the previous names, because a migration may rename a table.
    const names = new Map(before.map(({ oid, name }) => [oid, name]));
    await trx('heron_migrations').insert({ name: migration.name, batch: 2, migration_time: new Date() });
    return strongest(rows.map(({ oid, mode }) => ({ table: names.get(oid)!, mode })));
  });
  return { locks, durationMs: performance.now() - startedAt };
}

function strongest(held: readonly { table: string; mode: string }[]): Record<string, HeavyLock> {
  const locks: Record<string, HeavyLock> = {};
  const strength = (mode: string | undefined) => HEAVY_LOCKS.indexOf(mode as HeavyLock);
  for (const { table, mode } of held.toSorted((a, b) => (a.table < b.table ? -1 : 1)))
    if (strength(mode) > strength(locks[table])) locks[table] = mode as HeavyLock;
  return locks;
}
