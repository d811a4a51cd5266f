import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    blobs: 'ShareRowExclusiveLock',
    direct_sends: 'AccessExclusiveLock',
    inbound_messages: 'ShareRowExclusiveLock',
    mailboxes: 'ShareRowExclusiveLock',
    organizations: 'ShareRowExclusiveLock',
  },
  secondsAtMillionRows: 2,
};

/** The HTML and the files of received messages, and drafts. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table inbound_bodies (
      message_id uuid primary key references inbound_messages on delete cascade,
      organization_id uuid not null references organizations on delete cascade,
      -- Without anything that acts or loads: it can be shown as it is.
      html text not null
    );
    create index inbound_bodies_organization on inbound_bodies (organization_id);
    call heron_guard_rows('inbound_bodies');

    create table inbound_attachments (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      message_id uuid not null references inbound_messages on delete cascade,
      place integer not null,
      filename text not null,
      content_type text not null,
      size_bytes integer not null,
      sha256 text not null,
      blob_id uuid references blobs on delete set null,
      -- Why its bytes are not here.
      left_out text check (left_out in ('too_large', 'no_space', 'expired', 'erased')),
      created_at timestamptz not null
    );
    create index inbound_attachments_message on inbound_attachments (message_id, place);
    create index inbound_attachments_blob on inbound_attachments (blob_id) where blob_id is not null;
    create index inbound_attachments_stored on inbound_attachments (organization_id) include (size_bytes) where blob_id is not null;
    create index inbound_attachments_age on inbound_attachments (created_at) where blob_id is not null;
    call heron_guard_rows('inbound_attachments');
    create index blobs_organization on blobs (organization_id) include (size);

    -- The bytes go with the file, however it goes.
    create function inbound_attachment_is_gone() returns trigger language plpgsql security definer set search_path from current as $$
    begin
      delete from blobs where id = old.blob_id;
      return null;
    end $$;
    create trigger inbound_attachments_gone after delete on inbound_attachments
      for each row when (old.blob_id is not null) execute function inbound_attachment_is_gone();

    -- When the bytes of its files were deleted.
    alter table direct_sends add column files_deleted_at timestamptz;
    create index direct_sends_files on direct_sends (finished_at) where finished_at is not null and files_deleted_at is null and attachments <> '[]';

    -- Emails that somebody has begun to write: whatever fields there are, not looked at before they are sent.
    create table email_drafts (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      user_id uuid,
      mailbox_id uuid references mailboxes on delete set null,
      thread_id text,
      to_emails text[] not null,
      cc_emails text[] not null,
      bcc_emails text[] not null,
      subject text not null,
      body_plain text not null,
      body_html text,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index email_drafts_listed on email_drafts (organization_id, updated_at desc, id desc);
    create index email_drafts_mailbox on email_drafts (mailbox_id);
    call heron_guard_rows('email_drafts');
  `);
}
