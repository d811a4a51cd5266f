import type { Knex } from 'knex';

/** What the sending engine looks up often, and a column it no longer writes. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- When a mailbox sent last, which its next slot keeps a gap from; and what lets go of a mailbox that is removed.
    create index sends_mailbox on sends (mailbox_id, sent_at);
    create index enrollments_mailbox on enrollments (mailbox_id) where mailbox_id is not null;
    -- Every settle would wait for whoever gives out slots of the mailbox; the index above tells the same.
    alter table mailboxes drop column last_sent_at;

    -- Where a removed step led to, for the contacts who stood at it.
    create table removed_steps (
      step_id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      campaign_id uuid not null references campaigns on delete cascade,
      successor_id uuid,
      removed_at timestamptz not null
    );
    create index removed_steps_campaign on removed_steps (campaign_id);
  `);
}
