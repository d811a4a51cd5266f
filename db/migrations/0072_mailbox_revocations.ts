import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { organizations: 'ShareRowExclusiveLock' },
  secondsAtMillionRows: 0,
};

/** Consents of mailboxes that were removed, until they are ended at their provider. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table mailbox_revocations (
      -- The mailbox itself is gone.
      mailbox_id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      provider text not null check (provider in ('gmail', 'outlook')),
      email text not null,
      sealed bytea not null,
      attempts integer not null default 0,
      due_at timestamptz not null,
      created_at timestamptz not null
    );
    create index mailbox_revocations_organization on mailbox_revocations (organization_id);
    create index mailbox_revocations_due on mailbox_revocations (due_at);
    call heron_guard_rows('mailbox_revocations');
  `);
}
