import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { campaigns: 'ShareRowExclusiveLock', organizations: 'ShareRowExclusiveLock' },
  secondsAtMillionRows: 1,
};

/** Reports of the checks before a launch; of a campaign the newest are kept. The locks are those of the foreign keys, and short. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table preflight_reports (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid not null references campaigns on delete cascade,
      passed boolean not null,
      score integer not null check (score between 0 and 100),
      checks jsonb not null,
      findings jsonb not null,
      recommendations text[] not null,
      created_at timestamptz not null
    );
    create index preflight_reports_campaign on preflight_reports (campaign_id, id desc);
    call heron_guard_rows('preflight_reports');
  `);
}
