import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { automations: 'AccessExclusiveLock', automation_runs: 'AccessExclusiveLock' },
  secondsAtMillionRows: 0,
};

/** What the author of an automation may do, so that it starts no other that does more. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Null for automations that were saved before, and for their runs: these are not limited.
    alter table automations add column author_rights text[];
    alter table automation_runs add column rights text[];
  `);
}
