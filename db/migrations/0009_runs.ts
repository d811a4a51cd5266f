import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    contact_imports: 'ShareLock',
    enrollments: 'ShareLock',
    outbox: 'AccessExclusiveLock',
    webhook_deliveries: 'ShareLock',
    webhook_endpoints: 'AccessExclusiveLock',
  },
  secondsAtMillionRows: 8,
};

/**
 * The order of one workflow's intents, intents that are set aside, workers that say they are alive, and what the last
 * look for missing runs found. The columns are added without rewriting the table; the index is built under a lock that
 * stops writes to `outbox`, which is nearly empty except while Temporal is away (100,000 rows: 0.2 s). The partial indexes on
 * enrollments, imports and deliveries stop writes to those tables while they are scanned once: seconds per
 * million rows.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table outbox
      -- Attempts that count against the intent: Temporal refused it, or took others while it did not take this one.
      add column refusals integer not null default 0,
      -- Set aside after too many of those, with last_error as the reason; available_at is then infinity.
      add column parked_at timestamptz;
    -- The line of one workflow: an earlier unfinished intent holds up the later ones.
    create index outbox_line on outbox (workflow_id, id);
    create index outbox_parked on outbox (id) where parked_at is not null;

    -- What must have an open run, in an order that can be paged through however many have ended.
    create index enrollments_open on enrollments (id) where state = 'active';
    create index contact_imports_open on contact_imports (id) where status in ('queued', 'running');
    create index webhook_deliveries_own_run on webhook_deliveries (id) where batch_id is null and status in ('pending', 'in_flight', 'failed');
    -- Whether the endpoint of an application is being challenged: from when it is armed until that is given up.
    alter table webhook_endpoints add column challenging boolean not null default false;
    create index webhook_endpoints_challenging on webhook_endpoints (id) where challenging and verified_at is null;

    -- Worker processes, each of which says every few seconds that it is alive. One that is killed says nothing any more.
    create table workers (
      id uuid primary key,
      roles text[] not null,
      started_at timestamptz not null default now(),
      seen_at timestamptz not null default now()
    );

    -- Per family of workflows, what the latest look for missing runs found, and how far one that is under way has come.
    create table reconciliations (
      family text primary key,
      -- Null between looks.
      position text,
      began_at timestamptz not null,
      checked bigint not null default 0,
      missing bigint not null default 0,
      -- Of the last look that came to its end.
      ended_at timestamptz,
      last_checked bigint,
      last_missing bigint
    );
  `);
}
