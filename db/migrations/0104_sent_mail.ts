import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  // Emails that people have written can be read meanwhile, and none is written or sent.
  locks: {
    direct_sends: 'ShareRowExclusiveLock',
    mailboxes: 'ShareRowExclusiveLock',
    organizations: 'ShareRowExclusiveLock',
  },
  secondsAtMillionRows: 120,
};

/**
 * The emails that were written here and have left, in their order, with their words: a list and a search that stay fast over millions. A trigger
 * keeps them, so that what is erased of an email leaves no words behind, whoever erases it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(TABLE);
  await knex.raw(KEEP);
}

const TABLE = `
  create sequence sent_words_number;
  create table sent_words (
    direct_send_id uuid primary key references direct_sends on delete cascade,
    organization_id uuid not null references organizations on delete cascade,
    mailbox_id uuid references mailboxes on delete set null,
    -- In the order in which they left.
    number bigint not null,
    shelves bigint[] not null,
    recipients text not null,
    subject text not null,
    words tsvector not null,
    constraint sent_words_key unique (organization_id, number)
  );
  call heron_guard_rows('sent_words');

  create function sent_shelves(organization uuid, mailbox uuid, number bigint) returns bigint[] language sql immutable parallel safe as $$
    select array_agg(message_shelf(owner, level, number)) from unnest(array[organization, mailbox]) owner, unnest(array[12, 15, 18, 60]) level where owner is not null
  $$;

  insert into sent_words (direct_send_id, organization_id, mailbox_id, number, shelves, recipients, subject, words)
  select d.id, d.organization_id, d.mailbox_id, d.number, sent_shelves(d.organization_id, d.mailbox_id, d.number),
    d.recipients, d.subject, inbound_message_words(d.subject, '', d.recipients, d.body_plain)
  from (
    select d.*, array_to_string(d.to_emails || d.cc_emails, ' ') as recipients, nextval('sent_words_number') as number
    from (select * from direct_sends where state in ('sent', 'uncertain', 'bounced') and to_emails <> '{}' order by finished_at, id) d
  ) d;
  create index sent_words_mailbox on sent_words (mailbox_id, number);
  create index sent_words_search on sent_words using gin (shelves, words, recipients gin_trgm_ops, subject gin_trgm_ops) with (gin_pending_list_limit = 512);
`;

const KEEP = `
  create function sent_words_follow() returns trigger language plpgsql security definer set search_path from current as $$
  declare
    place bigint;
    recipients text := array_to_string(new.to_emails || new.cc_emails, ' ');
  begin
    -- Its words were erased.
    if new.to_emails = '{}' then
      delete from sent_words where direct_send_id = new.id;
    elsif new.state in ('sent', 'uncertain', 'bounced') then
      place := nextval('sent_words_number');
      insert into sent_words (direct_send_id, organization_id, mailbox_id, number, shelves, recipients, subject, words)
      values (new.id, new.organization_id, new.mailbox_id, place, sent_shelves(new.organization_id, new.mailbox_id, place),
        recipients, new.subject, inbound_message_words(new.subject, '', recipients, new.body_plain))
      on conflict (direct_send_id) do nothing;
    end if;
    return null;
  end $$;
  create trigger direct_sends_words after insert or update of state, to_emails on direct_sends
    for each row execute function sent_words_follow();
`;
