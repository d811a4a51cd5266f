import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { organizations: 'ShareRowExclusiveLock' },
  secondsAtMillionRows: 0,
};

/** How many runs of automations other runs led to, by which those that multiply are stopped. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table automation_budgets (
      organization_id uuid primary key references organizations on delete cascade,
      -- The hour that is counted, UTC.
      hour timestamptz not null,
      -- Of this hour: runs that nothing but an event from outside led to, and runs that others led to, begun or not.
      first_runs integer not null,
      led_runs integer not null
    );
    call heron_guard_rows('automation_budgets');
  `);
}
