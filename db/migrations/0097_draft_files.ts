import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { email_drafts: 'AccessExclusiveLock' },
  secondsAtMillionRows: 2,
};

/** Files of drafts: they are kept with the draft, and go to the email that it becomes. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table email_drafts add column attachments jsonb not null default '[]';
    create index email_drafts_files on email_drafts (updated_at) where attachments <> '[]';
  `);
}
