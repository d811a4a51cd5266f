import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = { locks: { sends: 'ShareLock' }, secondsAtMillionRows: 1 };

/**
 * Emails that were handed to a server, or may have been, without counting as sent: the mailbox keeps its distance from them as well.
 * The index is built under a lock that lets no email be written meanwhile: less than a second per million.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index sends_attempted on sends (mailbox_id, claimed_at) where sent_at is null and state in ('uncertain', 'bounced');
  `);
}
