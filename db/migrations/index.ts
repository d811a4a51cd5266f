import type { Knex } from 'knex';
import type { Db } from '../connection.ts';
import { knexOf } from '../raw.ts';
import * as foundation from './0001_foundation.ts';
import * as audience from './0002_audience.ts';
import * as outreach from './0003_outreach.ts';
import * as apiKeyUsage from './0004_api_key_usage.ts';
import * as oauth from './0005_oauth.ts';
import * as webhooks from './0006_webhooks.ts';
import * as engine from './0007_engine.ts';
import * as inbox from './0008_inbox.ts';
import * as runs from './0009_runs.ts';
import * as reactions from './0010_reactions.ts';
import * as blockedRuns from './0013_blocked_runs.ts';
import * as rateLimits from './0014_rate_limits.ts';
import * as freeTime from './0015_free_time.ts';

/** All migrations in order. Names are part of the record in every database: never rename, only append. */
const MIGRATIONS: { name: string; up: (knex: Knex) => Promise<void> }[] = [
  { name: '0001_foundation', up: foundation.up },
  { name: '0002_audience', up: audience.up },
  { name: '0003_outreach', up: outreach.up },
  { name: '0004_api_key_usage', up: apiKeyUsage.up },
  { name: '0005_oauth', up: oauth.up },
  { name: '0006_webhooks', up: webhooks.up },
  { name: '0007_engine', up: engine.up },
  { name: '0008_inbox', up: inbox.up },
  { name: '0009_runs', up: runs.up },
  { name: '0010_reactions', up: reactions.up },
  { name: '0013_blocked_runs', up: blockedRuns.up },
  { name: '0014_rate_limits', up: rateLimits.up },
  { name: '0015_free_time', up: freeTime.up },
];

const source: Knex.MigrationSource<(typeof MIGRATIONS)[number]> = {
  getMigrations: async () => MIGRATIONS,
  getMigrationName: (migration) => migration.name,
  getMigration: async (migration) => ({
    up: migration.up,
    down: () => Promise.reject(new Error('migrations only go forward')),
  }),
};

/** Brings the database to this build's schema; safe to run from several processes at once. Returns the names applied. */
export async function migrate(db: Db): Promise<string[]> {
  const [, applied] = (await knexOf(db).migrate.latest({ migrationSource: source, tableName: 'heron_migrations' })) as [
    number,
    string[],
  ];
  return applied;
}

/** Names of migrations this build has and the database lacks. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const knex = knexOf(db);
  const exists = await knex.schema.hasTable('heron_migrations');
  const done = exists ? await knex('heron_migrations').pluck('name') : [];
  return MIGRATIONS.map((m) => m.name).filter((name) => !done.includes(name));
}
