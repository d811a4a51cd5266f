import { message } from '../../../messages/index.ts';

/** Tables for received messages and their conversations, and for emails written by people. */
export const INBOX = `
-- Returns the searchable text: subject, first 16 KiB of the body, and the sender's name, whole address and parts of the address.
create function inbound_message_words(subject text, from_name text, from_email text, body text) returns tsvector language sql immutable as
  $$ select to_tsvector('simple', subject || ' ' || from_name || ' ' || from_email || ' ' || translate(from_email, '@.-_+', '     ') || ' ' || left(body, 16384)) $$;
create table inbound_messages (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  mailbox_id uuid not null references mailboxes on delete cascade,
  folder text not null,
  uid_validity bigint not null,
  uid bigint not null,
  message_id text,
  thread_id text not null,
  in_reply_to text,
  reference_ids text[] not null default '{}',
  from_email text not null default '',
  from_name text not null default '',
  to_emails text[] not null default '{}',
  cc_emails text[] not null default '{}',
  reply_to_emails text[] not null default '{}',
  subject text not null default '',
  body_plain text not null default '',
  kind text not null check (kind in ('reply', 'bounce', 'complaint', 'out_of_office', 'automated', 'other')),
  intent text,
  intent_confidence real,
  answer jsonb,
  corrected_kind text check (corrected_kind in ('positive', 'negative', 'not_now', 'question', 'referral', 'opt_out', 'out_of_office', 'automated', 'neutral')),
  send_id uuid,
  campaign_id uuid,
  contact_id uuid references contacts on delete set null,
  size integer not null default 0,
  seen boolean not null default false,
  error jsonb,
  received_at timestamptz not null,
  retry_at timestamptz,
  tries integer not null default 0,
  words tsvector,
  filed text not null default 'inbox' check (filed in ('inbox', 'archive', 'spam', 'trash')),
  created_at timestamptz not null,
  constraint inbound_messages_uid_key unique (mailbox_id, folder, uid_validity, uid)
);
comment on table inbound_messages is 'A message read from a mailbox.';
comment on column inbound_messages.folder is 'IMAP folder.';
comment on column inbound_messages.uid is 'IMAP UID, valid together with uid_validity.';
comment on column inbound_messages.reply_to_emails is 'Addresses of the Reply-To header.';
comment on column inbound_messages.intent_confidence is 'Confidence from 0 to 1.';
comment on column inbound_messages.answer is 'The reading of the trained model; kept as it was when a person corrects it.';
comment on column inbound_messages.corrected_kind is 'The kind that a person gave instead.';
comment on column inbound_messages.size is 'Size (bytes) of the message.';
comment on column inbound_messages.error is 'Message with the reason why the message could not be read. The row stays and the message is skipped.';
comment on column inbound_messages.retry_at is 'Next attempt to read a message that could not be read.';
comment on column inbound_messages.filed is 'Folder in Heron. The message stays in its folder at the mail provider.';
create index inbound_messages_org on inbound_messages (organization_id, id desc);
create index inbound_messages_thread on inbound_messages (organization_id, thread_id, id);
create index inbound_messages_contact on inbound_messages (contact_id, id desc);
create index inbound_messages_message on inbound_messages (organization_id, message_id);
create index inbound_messages_kind on inbound_messages (organization_id, kind, id desc);
create index inbound_messages_mailbox on inbound_messages (mailbox_id, id desc);
create index inbound_messages_retry on inbound_messages (mailbox_id, retry_at) where retry_at is not null;
create index inbound_messages_judged on inbound_messages (organization_id, created_at) include (kind, intent);
call heron_guard_rows('inbound_messages');

create table opt_out_questions (
  organization_id uuid not null references organizations on delete cascade,
  email text not null check (email = lower(email)),
  message_id uuid not null references inbound_messages on delete cascade,
  thread_id text not null,
  created_at timestamptz not null,
  primary key (organization_id, email, message_id)
);
comment on table opt_out_questions is 'An address whose owner may have asked to stop. Until a person decides, which deletes the row, it gets nothing but answers by hand in the thread.';
create index opt_out_questions_message on opt_out_questions (message_id);
create index opt_out_questions_thread on opt_out_questions (organization_id, thread_id);
call heron_guard_rows('opt_out_questions');

-- A message that is deleted before anybody has decided counts as an opt-out: nobody can read it any more.
create function opt_out_question_is_lost() returns trigger language plpgsql security definer set search_path from current as $$
begin
  insert into suppressions (id, organization_id, email, kind, reason, source, created_at, updated_at)
  select gen_random_uuid(), old.organization_id, old.email, 'email', '${JSON.stringify(message('suppressed.question_lost'))}', 'unsubscribe', now(), now()
  where exists (select from organizations where id = old.organization_id) and not exists (select from inbound_messages where id = old.message_id)
  on conflict on constraint suppressions_value_key do nothing;
  return null;
end $$;
create trigger opt_out_questions_lost after delete on opt_out_questions for each row execute function opt_out_question_is_lost();

create table legal_threat_mails (
  message_id uuid not null references inbound_messages on delete cascade,
  user_id uuid not null references users on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  state text not null default 'due' check (state in ('due', 'sending', 'sent', 'refused', 'uncertain')),
  claimed_at timestamptz,
  settled_at timestamptz,
  created_at timestamptz not null,
  primary key (message_id, user_id)
);
comment on table legal_threat_mails is 'An email to an owner of the workspace about a reply that threatens legal steps.';
comment on column legal_threat_mails.state is '''uncertain'': the answer of the mail server was lost.';
create index legal_threat_mails_open on legal_threat_mails (created_at) where state in ('due', 'sending');
call heron_guard_rows('legal_threat_mails');

create table answer_corrections (
  organization_id uuid not null references organizations on delete cascade,
  read_kind text not null,
  said_kind text not null,
  count integer not null,
  primary key (organization_id, read_kind, said_kind)
);
comment on table answer_corrections is 'Counts of the readings that people corrected, from which later ones learn.';
call heron_guard_rows('answer_corrections');

create table inbound_bodies (
  message_id uuid primary key references inbound_messages on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  html text not null
);
comment on table inbound_bodies is 'The HTML body of a received message.';
comment on column inbound_bodies.html is 'Sanitized HTML, without scripts and without remote content.';
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
  left_out text check (left_out in ('too_large', 'no_space', 'expired', 'erased')),
  created_at timestamptz not null
);
comment on table inbound_attachments is 'An attachment of a received message.';
comment on column inbound_attachments.left_out is 'Reason why its content is not stored.';
create index inbound_attachments_message on inbound_attachments (message_id, place);
create index inbound_attachments_blob on inbound_attachments (blob_id) where blob_id is not null;
create index inbound_attachments_stored on inbound_attachments (organization_id) include (size_bytes) where blob_id is not null;
create index inbound_attachments_age on inbound_attachments (created_at) where blob_id is not null;
call heron_guard_rows('inbound_attachments');

create trigger inbound_attachments_gone after delete on inbound_attachments
  for each row when (old.blob_id is not null) execute function attachment_is_gone();

create sequence message_words_number;
-- Returns the id of a range of messages of an organization, a mailbox or a kind. 2^level consecutive numbers share a range.
create function message_shelf(owner uuid, level integer, number bigint) returns bigint language sql immutable parallel safe as
  $$ select hashtextextended(owner::text || '/' || level || '/' || (number >> level), 0) $$;
create function message_shelves(organization uuid, mailbox uuid, kind text, number bigint) returns bigint[] language sql immutable parallel safe as
  $$ select array_agg(message_shelf(owner, level, number)) from unnest(array[organization, mailbox, md5(organization::text || kind)::uuid]) owner, unnest(array[12, 15, 18, 60]) level $$;
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
comment on table message_words is 'Search index of a received message. A separate table, so that marking a message as seen does not rewrite its words.';
comment on column message_words.number is 'Number in order of receipt.';
comment on column message_words.shelves is 'Hashes of the number ranges per owner, which limit the rows that a search reads.';
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

create function inbound_message_index() returns trigger language plpgsql security definer set search_path from current as $$
begin
  perform index_message(new, nextval('message_words_number'));
  return null;
end $$;
create trigger inbound_messages_index after insert on inbound_messages for each row execute function inbound_message_index();

create table inbox_threads (
  organization_id uuid not null references organizations on delete cascade,
  thread_id text not null,
  mailbox_id uuid not null references mailboxes on delete cascade,
  newest_id uuid not null,
  newest_at timestamptz not null,
  seen boolean not null,
  filed text not null,
  kind text not null,
  message_count integer not null,
  unseen_count integer not null,
  is_answered boolean not null default false,
  primary key (organization_id, thread_id, mailbox_id)
);
comment on table inbox_threads is 'A conversation as received by one mailbox, kept by triggers.';
comment on column inbox_threads.newest_id is 'The message received last, by the mail server''s clock.';
comment on column inbox_threads.seen is 'State of the newest message.';
comment on column inbox_threads.unseen_count is 'Unread messages, except those in spam and trash.';
comment on column inbox_threads.is_answered is 'True if the last message is from the workspace.';
create index inbox_threads_listed on inbox_threads (organization_id, newest_at desc, newest_id desc) where filed in ('inbox', 'archive');
create index inbox_threads_filed on inbox_threads (organization_id, filed, newest_at desc, newest_id desc);
create index inbox_threads_kind on inbox_threads (organization_id, kind, newest_at desc, newest_id desc);
create index inbox_threads_mailbox on inbox_threads (mailbox_id, newest_at desc, newest_id desc);
create index inbox_threads_new on inbox_threads (organization_id, newest_at desc, newest_id desc) where not seen;
create index inbox_threads_answered on inbox_threads (organization_id, newest_at desc, newest_id desc) where is_answered;
create index inbox_threads_unseen on inbox_threads (organization_id, mailbox_id, filed) include (unseen_count) where unseen_count > 0;
call heron_guard_rows('inbox_threads');

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
create constraint trigger inbound_messages_grow after insert on inbound_messages deferrable initially deferred
  for each row execute function inbox_thread_grows();

create function inbox_thread_changes() returns trigger language plpgsql security definer set search_path from current as $$
begin
  update inbox_threads t set
    unseen_count = t.unseen_count + (not new.seen and new.filed in ('inbox', 'archive'))::int - (not old.seen and old.filed in ('inbox', 'archive'))::int,
    seen = case when t.newest_id = new.id then new.seen else t.seen end,
    filed = case when t.newest_id = new.id then new.filed else t.filed end
  where t.organization_id = new.organization_id and t.thread_id = new.thread_id and t.mailbox_id = new.mailbox_id;
  return null;
end $$;
create constraint trigger inbound_messages_change after update of seen, filed on inbound_messages deferrable initially deferred
  for each row when (old.seen is distinct from new.seen or old.filed is distinct from new.filed) execute function inbox_thread_changes();

create function inbox_thread_shrinks() returns trigger language plpgsql security definer set search_path from current as $$
declare
  thread inbox_threads;
  newest inbound_messages;
begin
  update inbox_threads t set message_count = t.message_count - 1,
    unseen_count = t.unseen_count - (not old.seen and old.filed in ('inbox', 'archive'))::int
  where t.organization_id = old.organization_id and t.thread_id = old.thread_id and t.mailbox_id = old.mailbox_id
  returning * into thread;
  -- Deleted together with its mailbox or workspace.
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
create constraint trigger inbound_messages_shrink after delete on inbound_messages deferrable initially deferred
  for each row execute function inbox_thread_shrinks();

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

create table thread_labels (
  organization_id uuid not null references organizations on delete cascade,
  thread_id text not null,
  label_id uuid not null references labels on delete cascade,
  created_at timestamptz not null,
  primary key (organization_id, thread_id, label_id)
);
comment on table thread_labels is 'A category of a conversation.';
create index thread_labels_label on thread_labels (label_id);
call heron_guard_rows('thread_labels');

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
comment on table thread_snoozes is 'A conversation that is hidden for a while.';
call heron_guard_rows('thread_snoozes');

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
  body_plain text not null,
  body_html text,
  attachments jsonb not null default '[]',
  message_id text not null,
  thread_id text not null,
  in_reply_to text,
  reference_ids text[] not null default '{}',
  about_send_id uuid,
  contact_id uuid references contacts on delete set null,
  send_mode text not null check (send_mode in ('instant', 'smart', 'scheduled')),
  scheduled_at timestamptz not null,
  user_id uuid,
  api_key_id uuid,
  oauth_grant_id uuid,
  approval_id uuid,
  left_out text[] not null default '{}',
  attempts integer not null default 0,
  held_at timestamptz,
  waiting_for jsonb,
  waiting_until timestamptz,
  blocked_reason jsonb,
  error_code text,
  error_detail jsonb,
  finished_at timestamptz,
  files_deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table direct_sends is 'An email written by a person or an agent. Its delivery is the row of sends with the same id.';
comment on column direct_sends.body_plain is 'Text as sent, with the mailbox''s signature.';
comment on column direct_sends.attachments is 'References to blobs.';
comment on column direct_sends.message_id is 'Message-ID of the email. Fixed before sending, because the email may start a conversation.';
comment on column direct_sends.about_send_id is 'The campaign email that the conversation is about. Replies to this email count for it. No foreign key, because slots are deleted.';
comment on column direct_sends.scheduled_at is 'Earliest time of sending.';
comment on column direct_sends.left_out is 'Recipients skipped because they are suppressed or were refused.';
comment on column direct_sends.held_at is 'Time of the last mailbox hold caused by this email.';
comment on column direct_sends.files_deleted_at is 'Time at which the content of its attachments was deleted.';
create index direct_sends_open on direct_sends (id) where state in ('awaiting_approval', 'queued');
create index direct_sends_listed on direct_sends (organization_id, scheduled_at, id) where state in ('draft', 'awaiting_approval', 'queued');
create index direct_sends_thread on direct_sends (organization_id, thread_id);
create index direct_sends_about on direct_sends (about_send_id) where about_send_id is not null;
create index direct_sends_mailbox on direct_sends (mailbox_id);
create index direct_sends_contact on direct_sends (contact_id);
create index direct_sends_organization on direct_sends (organization_id, id desc);
create index direct_sends_files on direct_sends (finished_at) where finished_at is not null and files_deleted_at is null and attachments <> '[]';
call heron_guard_rows('direct_sends');

create sequence sent_words_number;
create function sent_shelves(organization uuid, mailbox uuid, number bigint) returns bigint[] language sql immutable parallel safe as
  $$ select array_agg(message_shelf(owner, level, number)) from unnest(array[organization, mailbox]) owner, unnest(array[12, 15, 18, 60]) level where owner is not null $$;
create table sent_words (
  direct_send_id uuid primary key references direct_sends on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  mailbox_id uuid references mailboxes on delete set null,
  number bigint not null,
  shelves bigint[] not null,
  recipients text not null,
  subject text not null,
  words tsvector not null,
  constraint sent_words_key unique (organization_id, number)
);
comment on table sent_words is 'Search index of an email written by people, kept by triggers.';
comment on column sent_words.number is 'Number in order of sending.';
create index sent_words_mailbox on sent_words (mailbox_id, number);
create index sent_words_search on sent_words using gin (shelves, words, recipients gin_trgm_ops, subject gin_trgm_ops) with (gin_pending_list_limit = 512);
call heron_guard_rows('sent_words');

create function sent_words_follow() returns trigger language plpgsql security definer set search_path from current as $$
declare
  place bigint;
  recipients text := array_to_string(new.to_emails || new.cc_emails, ' ');
begin
  -- The text of the email was erased.
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
  attachments jsonb not null default '[]',
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table email_drafts is 'An email being written. Its fields are validated only when it is sent.';
create index email_drafts_listed on email_drafts (organization_id, updated_at desc, id desc);
create index email_drafts_mailbox on email_drafts (mailbox_id);
create index email_drafts_files on email_drafts (updated_at) where attachments <> '[]';
call heron_guard_rows('email_drafts');

create table reply_templates (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid,
  name text not null,
  subject text not null default '',
  body_html text not null default '',
  body_plain text not null default '',
  position integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table reply_templates is 'A text for replies.';
comment on column reply_templates.user_id is 'Author of the template. Kept when the account is deleted.';
comment on column reply_templates.position is 'Position from 1, without gaps.';
create index reply_templates_organization on reply_templates (organization_id, position);
call heron_guard_rows('reply_templates');

create table ai_usage (
  organization_id uuid not null references organizations on delete cascade,
  day date not null,
  tokens bigint not null,
  primary key (organization_id, day)
);
comment on table ai_usage is 'AI tokens that an organization used on one day.';
comment on column ai_usage.day is 'UTC day.';
call heron_guard_rows('ai_usage');
`;
