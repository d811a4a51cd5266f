import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    campaigns: 'AccessExclusiveLock',
    enrollments: 'AccessExclusiveLock',
    mailboxes: 'AccessExclusiveLock',
    sends: 'ShareLock',
  },
  secondsAtMillionRows: 9,
};

/**
 * When mailboxes are free, which leads were told to come later, and what a mailbox gave a campaign on a day. The indexes
 * on sends and enrollments are built under a lock that lets nothing be written meanwhile: seconds per million rows.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- No slot is free in the mailbox before this moment. It may be free later still: whoever gives out a slot looks.
    alter table mailboxes add column next_free_at timestamptz not null default 'epoch';
    create index mailboxes_free on mailboxes (organization_id, next_free_at) where status = 'active';

    -- Whatever makes a mailbox free earlier makes it one to look at.
    create function mailbox_changes_free_time() returns trigger language plpgsql as $$
    begin
      new.next_free_at := 'epoch';
      return new;
    end $$;
    create trigger mailboxes_free_time before update of campaign_limit, min_wait_time, status, hold_code, hold_until on mailboxes
      for each row execute function mailbox_changes_free_time();

    -- The caps of a mailbox within one campaign: counted, not kept.
    create index sends_campaign_day on sends (campaign_id, slot_day, mailbox_id);

    -- A lead whose own hour or mailbox comes later is not looked at before; 'epoch' was never refused.
    alter table enrollments add column launch_after timestamptz not null default 'epoch';
    create index enrollments_due on enrollments (campaign_id, launch_after, entered_at, id) where state = 'pending';

    -- The control_epoch up to which waiting leads were freed of launch_after.
    alter table campaigns add column launch_epoch integer not null default 0;
  `);
}
