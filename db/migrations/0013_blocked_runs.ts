import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    campaigns: 'AccessExclusiveLock',
    contact_imports: 'AccessExclusiveLock',
    dead_letters: 'ShareLock',
    webhook_deliveries: 'AccessExclusiveLock',
  },
  secondsAtMillionRows: 1,
};

/**
 * Why a launcher, import or delivery stands still after its run kept failing (an enrollment has `blocked` and `waiting_for`
 * already). Nullable columns without a default: no table is rewritten, the exclusive lock is as short as the catalogue
 * change. The index is on pending dead letters alone, of which there are few.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table campaigns add column blocked_reason text;
    alter table contact_imports add column blocked_reason text;
    alter table webhook_deliveries add column blocked_reason text;
    create index dead_letters_due on dead_letters (next_retry_at) where status = 'pending' and next_retry_at is not null;
  `);
}
