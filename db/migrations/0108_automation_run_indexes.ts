import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { automation_runs: 'AccessExclusiveLock' },
  secondsAtMillionRows: 4,
};

/** Open runs are found by their automation, and all runs of a workspace that is deleted. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index automation_runs_running on automation_runs (automation_id) where status = 'running';
    create index automation_runs_organization on automation_runs (organization_id);
    drop index automation_runs_finished;
  `);
}
