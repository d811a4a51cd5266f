import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { dead_letters: 'ShareLock', reaction_subscribers: 'AccessExclusiveLock' },
  secondsAtMillionRows: 1,
};

/**
 * How new the build is whose types a subscriber has, so that a process of an earlier one that starts beside it does not take the subscriber back. And the events that
 * a replay of a goal went on without, by the replay.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Migrations that the build has which registered the types; 0: a build that does not say so.
    alter table reaction_subscribers add column build integer not null default 0;
    create index dead_letters_passed_over on dead_letters (organization_id, (payload ->> 'replay_id')) where task_type = 'goal_replay_event';
  `);
}
