import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { mailboxes: 'AccessExclusiveLock' },
  secondsAtMillionRows: 2,
};

/**
 * The indexes by which mailboxes are gone through say also for what a mailbox has given all it may: late on a day of a ramp that is most of them, and to look
 * at the row of each cost three times as much.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index mailboxes_free;
    drop index mailboxes_free_provider;
    create index mailboxes_free on mailboxes (organization_id, next_free_at) include (id, spent_days) where status = 'active';
    create index mailboxes_free_provider on mailboxes (organization_id, provider, next_free_at) include (id, spent_days) where status = 'active';
  `);
}
