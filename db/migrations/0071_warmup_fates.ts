import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { mailboxes: 'AccessExclusiveLock', warmup_mails: 'AccessExclusiveLock' },
  secondsAtMillionRows: 2,
};

/**
 * A warmup email may come back as undeliverable. Where a mailbox's emails have landed is found by an index. What is planned no longer refers
 * to its partner by a foreign key, whose check was a third of the cost of a plan: an email to a partner that is gone is given up
 * when its time comes, and one that has landed still counts for its sender.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table warmup_mails drop constraint warmup_mails_partner_id_fkey;
    drop index warmup_mails_partner;
    alter table warmup_mails drop constraint warmup_mails_landed_check;
    alter table warmup_mails add constraint warmup_mails_landed_check check (landed in ('inbox', 'spam', 'bounced'));
    create index warmup_mails_landed on warmup_mails (mailbox_id, landed_at) where landed_at is not null;
  `);
}
