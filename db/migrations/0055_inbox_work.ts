import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    inbound_messages: 'AccessExclusiveLock',
    labels: 'ShareRowExclusiveLock',
    organizations: 'ShareRowExclusiveLock',
  },
  secondsAtMillionRows: 3,
};

/**
 * Search in messages, labels of conversations and snoozes. The column is added without a rewrite and is empty for messages that are
 * there already: the sweep fills it in pages. The index of those that wait reads the table once under the lock, about a second per million.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create extension if not exists btree_gin;

    alter table inbound_messages add column words tsvector;
    -- What a search looks in: the first 16 KiB of a text, its subject, and its sender with and without the parts of the address.
    create function inbound_message_words(subject text, from_name text, from_email text, body text) returns tsvector language sql immutable as $$
      select to_tsvector('simple', subject || ' ' || from_name || ' ' || from_email || ' ' || translate(from_email, '@.-_+', '     ') || ' ' || left(body, 16384))
    $$;
    create function inbound_message_is_searchable() returns trigger language plpgsql as $$
    begin
      new.words := inbound_message_words(new.subject, new.from_name, new.from_email, new.body_plain);
      return new;
    end $$;
    create trigger inbound_messages_words before insert on inbound_messages for each row execute function inbound_message_is_searchable();
    create index inbound_messages_words on inbound_messages using gin (organization_id, words);
    create index inbound_messages_unsearchable on inbound_messages (id) where words is null;
    create index inbound_messages_unseen on inbound_messages (organization_id, mailbox_id) where not seen;

    create table thread_labels (
      organization_id uuid not null references organizations on delete cascade,
      thread_id text not null,
      label_id uuid not null references labels on delete cascade,
      created_at timestamptz not null,
      primary key (organization_id, thread_id, label_id)
    );
    create index thread_labels_label on thread_labels (label_id);
    call heron_guard_rows('thread_labels');

    -- Conversations that a person or a credential does not want to see for a while.
    create table thread_snoozes (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      owner_id uuid not null,
      thread_id text not null,
      snoozed_until timestamptz not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint thread_snoozes_key unique (organization_id, owner_id, thread_id)
    );
    call heron_guard_rows('thread_snoozes');
  `);
}
