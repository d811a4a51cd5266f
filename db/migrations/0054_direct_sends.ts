import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    contacts: 'ShareRowExclusiveLock',
    mailboxes: 'ShareRowExclusiveLock',
    organizations: 'ShareRowExclusiveLock',
  },
  secondsAtMillionRows: 0.1,
  rowsDoNotMatter: true,
};

/**
 * Emails that a person or an agent writes: compose and reply. The email itself is a row of sends with the same id, from the
 * moment it has a slot, so that mailbox caps, gaps, claims and reconciliation are those of campaign emails.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table direct_sends (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      kind text not null check (kind in ('compose', 'reply')),
      state text not null check (state in ('draft', 'awaiting_approval', 'queued', 'sent', 'uncertain', 'bounced', 'failed', 'cancelled', 'denied', 'expired')),
      mailbox_id uuid references mailboxes on delete set null,
      to_emails text[] not null,
      cc_emails text[] not null default '{}',
      bcc_emails text[] not null default '{}',
      subject text not null,
      -- As they leave, the signature of the mailbox included.
      body_plain text not null,
      body_html text,
      -- By reference: each names a blob.
      attachments jsonb not null default '[]',
      -- Its Message-ID: settled before it is sent, because it may begin the conversation.
      message_id text not null,
      thread_id text not null,
      in_reply_to text,
      reference_ids text[] not null default '{}',
      -- The campaign email that the conversation is about: answers to this one count for it. No foreign key: slots come and go.
      about_send_id uuid,
      contact_id uuid references contacts on delete set null,
      send_mode text not null check (send_mode in ('instant', 'smart', 'scheduled')),
      -- It leaves no earlier.
      scheduled_at timestamptz not null,
      user_id uuid,
      api_key_id uuid,
      oauth_grant_id uuid,
      approval_id uuid,
      -- Addresses it did not go to, because they are suppressed or were refused.
      left_out text[] not null default '{}',
      attempts integer not null default 0,
      -- When its mailbox was last held because of this email.
      held_at timestamptz,
      waiting_for text,
      waiting_until timestamptz,
      blocked_reason text,
      error_code text,
      error_detail text,
      finished_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index direct_sends_open on direct_sends (id) where state in ('awaiting_approval', 'queued');
    create index direct_sends_listed on direct_sends (organization_id, scheduled_at, id) where state in ('draft', 'awaiting_approval', 'queued');
    create index direct_sends_thread on direct_sends (organization_id, thread_id);
    create index direct_sends_about on direct_sends (about_send_id) where about_send_id is not null;
    create index direct_sends_mailbox on direct_sends (mailbox_id);
    create index direct_sends_contact on direct_sends (contact_id);
    create index direct_sends_organization on direct_sends (organization_id, id desc);
    call heron_guard_rows('direct_sends');
  `);
}
