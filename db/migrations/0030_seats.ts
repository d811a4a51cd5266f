import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { mailboxes: 'AccessExclusiveLock', waits: 'ShareLock' },
  secondsAtMillionRows: 3,
};

/**
 * A mailbox that rests, or may give nothing, is not looked at before that ends; mailboxes by provider and free time; waits of a
 * step. The indexes are built under a lock that lets nobody write: about a second per million mailboxes or open waits.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Whatever makes a mailbox free earlier makes it one to look at, from the end of its holds on.
    create or replace function mailbox_changes_free_time() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and (old.campaign_limit, old.min_wait_time, old.status, old.hold_code, old.hold_until, old.imap_hold_code, old.imap_hold_until)
        is distinct from (new.campaign_limit, new.min_wait_time, new.status, new.hold_code, new.hold_until, new.imap_hold_code, new.imap_hold_until) then
        new.next_free_at := 'epoch';
      end if;
      new.next_free_at := greatest(new.next_free_at,
        case when new.campaign_limit <= 0 then 'infinity'::timestamptz end,
        case when new.hold_code is not null then coalesce(new.hold_until, 'infinity'::timestamptz) end,
        case when new.imap_hold_code is not null then coalesce(new.imap_hold_until, 'infinity'::timestamptz) end);
      return new;
    end $$;
    drop trigger mailboxes_free_time on mailboxes;
    create trigger mailboxes_free_time before insert
        or update of campaign_limit, min_wait_time, status, hold_code, hold_until, imap_hold_code, imap_hold_until, next_free_at
      on mailboxes for each row execute function mailbox_changes_free_time();
    update mailboxes set next_free_at = next_free_at where hold_code is not null or imap_hold_code is not null or campaign_limit <= 0;

    create index mailboxes_free_provider on mailboxes (organization_id, provider, next_free_at) where status = 'active';
    -- Those who wait at a step that is edited.
    create index waits_step on waits (step_id) where state = 'open';
  `);
}
