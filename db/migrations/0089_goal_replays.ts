import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { conversions: 'AccessExclusiveLock', goal_replays: 'AccessExclusiveLock' },
  secondsAtMillionRows: 2,
};

/** What the runs of replays need. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Pages of a replay are read in this order.
    create index conversions_goal_events on conversions (organization_id, goal_id, occurred_at, event_id);
    drop index conversions_goal;

    -- Why the run of the replay is blocked.
    alter table goal_replays add column blocked_reason text;
  `);
}
