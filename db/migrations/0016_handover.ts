import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { inbound_messages: 'AccessExclusiveLock', mailboxes: 'AccessExclusiveLock', sends: 'AccessExclusiveLock' },
  secondsAtMillionRows: 3,
};

/**
 * How far an email under way has come, what a relay called it, what a person decided about one whose fate is unknown; holds
 * of reading apart from those of sending; messages to be tried again. Columns without a rewrite; the partial indexes hold
 * few rows, but each reads its table once under a lock that lets nothing be written.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- 'pending': claimed by a worker that marks the moment before the message ends. 'begun': that moment has come. Null: an
    -- earlier release had it, which kept no mark.
    alter table sends add column handover text;
    alter table sends add constraint sends_handover_check check (handover in ('pending', 'begun')) not valid;
    -- An uncertain email that a person wants sent again; it has no slot yet.
    alter table sends add column again boolean not null default false;
    -- The Message-ID that a relay put in the place of ours, where its answer said so.
    alter table sends add column assigned_id text;
    create index sends_assigned_id on sends (organization_id, assigned_id) where assigned_id is not null;
    create index sends_uncertain on sends (organization_id, mailbox_id, claimed_at) where state = 'uncertain';

    alter table mailboxes add column imap_hold_code text, add column imap_hold_reason text, add column imap_hold_until timestamptz;
    -- Until now one hold stood for both; one that was for reading is read again at once, and set anew where it must be.
    update mailboxes set imap_hold_code = hold_code, imap_hold_reason = hold_reason, imap_hold_until = hold_until,
      hold_code = null, hold_reason = null, hold_until = null
    where hold_code = 'imap_auth_failed';
    drop trigger mailboxes_free_time on mailboxes;
    create trigger mailboxes_free_time before update of campaign_limit, min_wait_time, status, hold_code, hold_until, imap_hold_code, imap_hold_until
      on mailboxes for each row execute function mailbox_changes_free_time();

    -- A message that could not be read is looked at again from this moment on.
    alter table inbound_messages add column retry_at timestamptz, add column tries integer not null default 0;
    create index inbound_messages_retry on inbound_messages (mailbox_id, retry_at) where retry_at is not null;
  `);
}
