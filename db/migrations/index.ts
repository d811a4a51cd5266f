import type { Knex } from 'knex';
import type { Db } from '../connection.ts';
import type { MigrationImpact } from '../migration-impact.ts';
import { knexOf } from '../raw.ts';
import * as baseline from './0001_baseline/index.ts';

export interface Migration {
  name: string;
  up: (knex: Knex) => Promise<void>;
  /** Effect on an installation that has data; every migration after the baseline states it. */
  impact?: MigrationImpact;
}

/**
 * All migrations in order. Until 1.0.0 is tagged the baseline is edited in place. From then on names are part of the record in every database:
 * append, never rename or edit one that was released.
 */
export const MIGRATIONS: Migration[] = [{ name: '0001_baseline', ...baseline }];

/** Brings the database to this build's schema; safe to run from several processes at once. Returns the names applied. */
export async function migrate(db: Db): Promise<string[]> {
  return run(db, MIGRATIONS);
}

/** Gives an empty database the schema that these migrations make, and no other: that of an earlier release. */
export async function migrateTo(db: Db, names: readonly string[]): Promise<void> {
  await run(
    db,
    MIGRATIONS.filter(({ name }) => names.includes(name)),
  );
}

/** Migrations of the list that this build does not know: a later release made them. */
export function unknownMigrations(names: readonly string[]): string[] {
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  return names.filter((name) => !known.has(name));
}

/** Names of migrations this build has and the database lacks. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const knex = knexOf(db);
  const exists = await knex.schema.hasTable('heron_migrations');
  const done = exists ? await knex('heron_migrations').pluck('name') : [];
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
