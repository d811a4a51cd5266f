import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { approvals: 'ShareRowExclusiveLock', organizations: 'ShareRowExclusiveLock', users: 'ShareRowExclusiveLock' },
  secondsAtMillionRows: 0,
};

/** Which approvals people are still to be mailed about, and whom each was mailed to. Only new tables. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- One for each approval from now on; approvals of earlier releases have none, and nobody is mailed about them.
    create table approval_notices (
      approval_id uuid primary key references approvals on delete cascade,
      organization_id uuid not null references organizations on delete cascade,
      state text not null default 'due' check (state in ('due', 'done')),
      blocked_reason text
    );
    create index approval_notices_due on approval_notices (approval_id) where state = 'due';
    call heron_guard_rows('approval_notices');

    -- The key is what keeps a person from being mailed twice.
    create table approval_mails (
      approval_id uuid not null references approvals on delete cascade,
      user_id uuid not null references users on delete cascade,
      organization_id uuid not null references organizations on delete cascade,
      -- left_out: the person had had as many as they may get in an hour. uncertain: the mail server's answer was lost.
      state text not null check (state in ('sending', 'sent', 'left_out', 'refused', 'uncertain')),
      claimed_at timestamptz not null,
      settled_at timestamptz,
      primary key (approval_id, user_id)
    );
    create index approval_mails_of_person on approval_mails (organization_id, user_id, claimed_at desc);
    call heron_guard_rows('approval_mails');
  `);
}
