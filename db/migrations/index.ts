import type { Knex } from 'knex';
import type { Db } from '../connection.ts';
import type { MigrationImpact } from '../migration-impact.ts';
import { knexOf } from '../raw.ts';
import * as baseline from './0001_baseline/index.ts';

export interface Migration {
  name: string;
  up: (knex: Knex) => Promise<void>;
  /** Effect on an installation with data. Required for every migration after the baseline. */
  impact?: MigrationImpact;
}

/**
 * All migrations in order. Until 1.0.0 is tagged, the baseline is edited in place. From then on every database records
 * the names: append, and never rename or edit a released migration.
 */
export const MIGRATIONS: Migration[] = [{ name: '0001_baseline', ...baseline }];

/**
 * Migrates the database to this build's schema. Several processes may call it concurrently. Returns the names of the
 * applied migrations.
 */
export async function migrate(db: Db): Promise<string[]> {
  return run(db, MIGRATIONS);
}

/** Migrates an empty database to an earlier release's schema: exactly the named migrations. */
export async function migrateTo(db: Db, names: readonly string[]): Promise<void> {
  await run(
    db,
    MIGRATIONS.filter(({ name }) => names.includes(name)),
  );
}

/** Returns the names that this build does not know, because a later release added them. */
export function unknownMigrations(names: readonly string[]): string[] {
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  return names.filter((name) => !known.has(name));
}

/** Returns the names of this build's migrations that the database lacks. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const knex = knexOf(db);
  const { rows } = await knex.raw(`select to_regclass('heron_migrations') is not null as exists`);
  const done = rows[0].exists ? await knex('heron_migrations').pluck('name') : [];
  return MIGRATIONS.map((m) => m.name).filter((name) => !done.includes(name));
}

async function run(db: Db, migrations: Migration[]): Promise<string[]> {
  const migrationSource: Knex.MigrationSource<Migration> = {
    getMigrations: async () => migrations,
    getMigrationName: ({ name }) => name,
    getMigration: async ({ up }) => ({
      up,
      down: () => Promise.reject(new Error('migrations only go forward')),
    }),
  };
  const [, applied] = (await knexOf(db).migrate.latest({ migrationSource, tableName: 'heron_migrations' })) as [
    number,
    string[],
  ];
  return applied;
}
