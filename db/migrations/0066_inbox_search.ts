import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    inbound_messages: 'AccessExclusiveLock',
    mailboxes: 'ShareRowExclusiveLock',
    organizations: 'ShareRowExclusiveLock',
    sends: 'ShareRowExclusiveLock',
  },
  secondsAtMillionRows: 15,
};

/**
 * Search and lists that stay fast over millions of messages. Both have tables of their own, so that marking a message as seen rewrites
 * no index of words. The conversations of messages that are there already are written here, which reads each message once; their words
 * are indexed by the sweep, newest first. Triggers keep both, so that processes of the release before may run on beside this one.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(MESSAGES);
  await knex.raw(WORDS);
  await knex.raw(THREADS);
  await knex.raw(KEEP_THREADS);
  await knex.raw(FOLLOW_SENDS);
}

const MESSAGES = `
  -- Where a person has filed it; the copy at the mail provider stays where it is.
  alter table inbound_messages add column filed text not null default 'inbox' check (filed in ('inbox', 'archive', 'spam', 'trash'));
  -- Whether its words are in message_words.
  alter table inbound_messages add column is_indexed boolean not null default false;
  create index inbound_messages_unindexed on inbound_messages (id) where not is_indexed;
  update inbound_messages set filed = 'spam' where folder <> 'INBOX';
  -- The column words goes with the next release.
  drop index inbound_messages_words, inbound_messages_unsearchable, inbound_messages_unseen, inbound_messages_search;
`;

const WORDS = `
  create sequence message_words_number;
  -- Messages from before have numbers below, in their order.
  create sequence message_words_earlier increment -1 start -1;
  -- A run of messages of a workspace, a mailbox, or a kind of a workspace: of each 2^level consecutive numbers one.
  create function message_shelf(owner uuid, level int, number bigint) returns bigint language sql immutable parallel safe as $$
    select hashtextextended(owner::text || '/' || level || '/' || (number >> level), 0)
  $$;
  create function message_shelves(organization uuid, mailbox uuid, kind text, number bigint) returns bigint[] language sql immutable parallel safe as $$
    select array_agg(message_shelf(owner, level, number)) from unnest(array[organization, mailbox, md5(organization::text || kind)::uuid]) owner, unnest(array[12, 15, 18, 60]) level
  $$;

  create table message_words (
    message_id uuid primary key references inbound_messages on delete cascade,
    organization_id uuid not null references organizations on delete cascade,
    number bigint not null,
    thread_id text not null,
    shelves bigint[] not null,
    sender text not null,
    subject text not null,
    words tsvector not null,
    constraint message_words_key unique (organization_id, number)
  );
  create index message_words_thread on message_words (organization_id, thread_id, number);
  create index message_words_search on message_words using gin (shelves, words, sender gin_trgm_ops, subject gin_trgm_ops)
    with (gin_pending_list_limit = 512);
  call heron_guard_rows('message_words');

  create function index_message(message inbound_messages, number bigint) returns void language sql as $$
    insert into message_words (message_id, organization_id, number, thread_id, shelves, sender, subject, words)
    values (message.id, message.organization_id, number, message.thread_id, message_shelves(message.organization_id, message.mailbox_id, message.kind, number),
      message.from_email || ' ' || message.from_name, message.subject,
      inbound_message_words(message.subject, message.from_name, message.from_email, message.body_plain))
    on conflict (message_id) do nothing
  $$;
  create or replace function inbound_message_is_searchable() returns trigger language plpgsql as $$
  begin
    new.is_indexed := true;
    return new;
  end $$;
  create function inbound_message_index() returns trigger language plpgsql security definer set search_path from current as $$
  begin
    perform index_message(new, nextval('message_words_number'));
    return null;
  end $$;
  create trigger inbound_messages_index after insert on inbound_messages for each row execute function inbound_message_index();
`;

const THREADS = `
  -- A conversation as one mailbox has received it. Its newest message is the one that came last, by the clock of the mail server.
  create table inbox_threads (
    organization_id uuid not null references organizations on delete cascade,
    thread_id text not null,
    mailbox_id uuid not null references mailboxes on delete cascade,
    newest_id uuid not null,
    newest_at timestamptz not null,
    -- Of the newest message.
    seen boolean not null,
    filed text not null,
    kind text not null,
    message_count integer not null,
    -- Without those in spam and trash.
    unseen_count integer not null,
    -- Whether the last message is ours.
    is_answered boolean not null default false,
    primary key (organization_id, thread_id, mailbox_id)
  );
  insert into inbox_threads (organization_id, thread_id, mailbox_id, newest_id, newest_at, seen, filed, kind, message_count, unseen_count)
  select organization_id, thread_id, mailbox_id, id, received_at, seen, filed, kind, messages, unseen from (
    select organization_id, thread_id, mailbox_id, id, received_at, seen, filed, kind,
      row_number() over (partition by organization_id, thread_id, mailbox_id order by received_at desc, id desc) as place,
      count(*) over whole as messages, count(*) filter (where not seen and filed in ('inbox', 'archive')) over whole as unseen
    from inbound_messages window whole as (partition by organization_id, thread_id, mailbox_id)
  ) counted where place = 1;
  update inbox_threads t set is_answered = true
  where exists (select from direct_sends d where d.organization_id = t.organization_id and d.thread_id = t.thread_id
    and d.state in ('sent', 'uncertain') and d.finished_at > t.newest_at);
  create index inbox_threads_listed on inbox_threads (organization_id, newest_at desc, newest_id desc) where filed in ('inbox', 'archive');
  create index inbox_threads_filed on inbox_threads (organization_id, filed, newest_at desc, newest_id desc);
  create index inbox_threads_kind on inbox_threads (organization_id, kind, newest_at desc, newest_id desc);
  create index inbox_threads_mailbox on inbox_threads (mailbox_id, newest_at desc, newest_id desc);
  create index inbox_threads_new on inbox_threads (organization_id, newest_at desc, newest_id desc) where not seen;
  create index inbox_threads_answered on inbox_threads (organization_id, newest_at desc, newest_id desc) where is_answered;
  create index inbox_threads_unseen on inbox_threads (organization_id, mailbox_id, filed) include (unseen_count) where unseen_count > 0;
  call heron_guard_rows('inbox_threads');
`;

/*
 * The row of a conversation is written just before the commit, by deferred triggers: nobody who waits for it holds anything that others want.
 * Every change of a message adds to the counts or takes from them once; a lock on the row serializes those of one conversation.
 */
const KEEP_THREADS = `
  create function inbox_thread_grows() returns trigger language plpgsql security definer set search_path from current as $$
  declare unseen int := (not new.seen and new.filed in ('inbox', 'archive'))::int;
  begin
    insert into inbox_threads as t (organization_id, thread_id, mailbox_id, newest_id, newest_at, seen, filed, kind, message_count, unseen_count)
    values (new.organization_id, new.thread_id, new.mailbox_id, new.id, new.received_at, new.seen, new.filed, new.kind, 1, unseen)
    on conflict (organization_id, thread_id, mailbox_id) do update set
      message_count = t.message_count + 1, unseen_count = t.unseen_count + unseen, is_answered = false,
      newest_id = case when (t.newest_at, t.newest_id) < (new.received_at, new.id) then new.id else t.newest_id end,
      newest_at = greatest(t.newest_at, new.received_at),
      seen = case when (t.newest_at, t.newest_id) < (new.received_at, new.id) then new.seen else t.seen end,
      filed = case when (t.newest_at, t.newest_id) < (new.received_at, new.id) then new.filed else t.filed end,
      kind = case when (t.newest_at, t.newest_id) < (new.received_at, new.id) then new.kind else t.kind end;
    return null;
  end $$;

  create function inbox_thread_changes() returns trigger language plpgsql security definer set search_path from current as $$
  begin
    update inbox_threads t set
      unseen_count = t.unseen_count + (not new.seen and new.filed in ('inbox', 'archive'))::int - (not old.seen and old.filed in ('inbox', 'archive'))::int,
      seen = case when t.newest_id = new.id then new.seen else t.seen end,
      filed = case when t.newest_id = new.id then new.filed else t.filed end
    where t.organization_id = new.organization_id and t.thread_id = new.thread_id and t.mailbox_id = new.mailbox_id;
    return null;
  end $$;

  create function inbox_thread_shrinks() returns trigger language plpgsql security definer set search_path from current as $$
  declare
    thread inbox_threads;
    newest inbound_messages;
  begin
    update inbox_threads t set message_count = t.message_count - 1,
      unseen_count = t.unseen_count - (not old.seen and old.filed in ('inbox', 'archive'))::int
    where t.organization_id = old.organization_id and t.thread_id = old.thread_id and t.mailbox_id = old.mailbox_id
    returning * into thread;
    -- Gone with its mailbox or workspace.
    if not found then return null; end if;
    if thread.message_count = 0 then
      delete from inbox_threads t
      where t.organization_id = old.organization_id and t.thread_id = old.thread_id and t.mailbox_id = old.mailbox_id;
    elsif thread.newest_id = old.id then
      select m.* into newest from inbound_messages m
      where m.organization_id = old.organization_id and m.thread_id = old.thread_id and m.mailbox_id = old.mailbox_id
      order by m.received_at desc, m.id desc limit 1;
      update inbox_threads t set newest_id = newest.id, newest_at = newest.received_at, seen = newest.seen, filed = newest.filed, kind = newest.kind
      where t.organization_id = old.organization_id and t.thread_id = old.thread_id and t.mailbox_id = old.mailbox_id and newest.id is not null;
    end if;
    return null;
  end $$;

  create constraint trigger inbound_messages_grow after insert on inbound_messages deferrable initially deferred
    for each row execute function inbox_thread_grows();
  create constraint trigger inbound_messages_change after update of seen, filed on inbound_messages deferrable initially deferred
    for each row when (old.seen is distinct from new.seen or old.filed is distinct from new.filed) execute function inbox_thread_changes();
  create constraint trigger inbound_messages_shrink after delete on inbound_messages deferrable initially deferred
    for each row execute function inbox_thread_shrinks();
`;

/* A first email is not looked at: nobody can have written in its conversation before. */
const FOLLOW_SENDS = `
  create function inbox_thread_is_answered() returns trigger language plpgsql security definer set search_path from current as $$
  begin
    update inbox_threads t set is_answered = true
    where t.organization_id = new.organization_id and not t.is_answered and t.thread_id = coalesce(
      (select d.thread_id from direct_sends d where d.id = new.id), new.conversation -> 'messageIds' ->> 0, new.message_id);
    return null;
  end $$;
  create constraint trigger sends_answer after update of state on sends deferrable initially deferred for each row
    when (new.state in ('sent', 'uncertain') and old.state is distinct from new.state
      and (new.enrollment_id is null or new.conversation -> 'messageIds' -> 1 is not null))
    execute function inbox_thread_is_answered();
`;
