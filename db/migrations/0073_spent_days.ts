import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { mailboxes: 'AccessExclusiveLock' },
  secondsAtMillionRows: 0,
};

/** For which campaign days a mailbox has given all it may, so that nobody looks at it again for them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Keys of campaign, day and share (free-seats.ts). A day that is missing here is found out by counting.
    alter table mailboxes add column spent_days uuid[] not null default '{}';
  `);
}
