import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { contacts: 'ShareRowExclusiveLock', organizations: 'ShareRowExclusiveLock' },
  secondsAtMillionRows: 0,
};

/** Contacts whose address is to be verified: one row until there is a verdict. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table contact_verifications (
      contact_id uuid primary key references contacts on delete cascade,
      organization_id uuid not null references organizations on delete cascade,
      -- Tries that gave no verdict because nothing answered.
      attempts integer not null default 0,
      -- Not before this moment; a worker that looks moves it ahead, so that no other does meanwhile.
      due_at timestamptz not null,
      created_at timestamptz not null
    );
    create index contact_verifications_due on contact_verifications (due_at);
    create index contact_verifications_organization on contact_verifications (organization_id);
    call heron_guard_rows('contact_verifications');
  `);
}
