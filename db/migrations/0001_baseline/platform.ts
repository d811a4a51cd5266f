import { divided } from './divided.ts';

/** Tables that every area writes to: events, audit, the outbox, files and background failures. */
export const PLATFORM = `
create table audit_logs (
  id uuid not null,
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid,
  actor_kind text not null,
  api_key_id uuid,
  action text not null,
  entity_type text not null,
  entity_id uuid,
  ip_address text not null default '',
  user_agent text not null default '',
  changes jsonb,
  metadata jsonb,
  request_id text,
  oauth_grant_id uuid,
  created_at timestamptz not null,
  primary key (id, created_at)
) partition by range (created_at);
comment on table audit_logs is 'A change that somebody made, and the credential used; kept newest first for the audit trail.';
comment on column audit_logs.oauth_grant_id is 'The grant that acted, for a token of an application.';
create index audit_logs_newest on audit_logs (organization_id, created_at desc, id desc);
create index audit_logs_entity on audit_logs (organization_id, entity_id, created_at desc, id desc) where entity_id is not null;
create index audit_logs_actor on audit_logs (organization_id, user_id, created_at desc, id desc) where user_id is not null;
${divided('audit_logs', 'moment')}
call heron_guard_rows('audit_logs');

-- Assigned after commit by the fan-out alone, so that a reader who has read up to a position has missed nothing before it.
create sequence domain_event_positions;
create table domain_events (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  type text not null,
  data jsonb not null,
  position bigint,
  hops smallint,
  created_at timestamptz not null
) partition by range (id);
comment on table domain_events is 'A fact that other areas react to, written in the transaction that caused it.';
comment on column domain_events.position is 'Order of the stream, assigned after commit by the fan-out; null until then.';
comment on column domain_events.hops is 'Reactions between this event and a cause from outside; null stands for 0.';
create index domain_events_unplaced on domain_events (id) where position is null;
create index domain_events_position on domain_events (organization_id, position) where position is not null;
-- The stream of the whole installation, in commit order.
create index domain_events_stream on domain_events (position) where position is not null;
${divided('domain_events', 'id')}
call heron_guard_rows('domain_events');

create table outbox (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('start', 'signal', 'cancel')),
  workflow_id text not null,
  payload jsonb not null,
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  last_error text,
  refusals integer not null default 0,
  parked_at timestamptz,
  created_at timestamptz not null default now()
);
comment on table outbox is 'An intent for Temporal, written with the change that causes it; the relay sends it after commit and deletes it.';
comment on column outbox.refusals is 'Attempts that count against the intent, because Temporal refused it while it accepted others.';
comment on column outbox.parked_at is 'Set when the intent was set aside after too many refusals; available_at is infinity then.';
create index outbox_available on outbox (available_at, id);
-- Order within one workflow: an unfinished intent holds up the later ones.
create index outbox_line on outbox (workflow_id, id);
create index outbox_parked on outbox (id) where parked_at is not null;

create table reaction_subscribers (
  name text primary key,
  types text[] not null,
  position bigint not null,
  seen_at timestamptz not null,
  build integer not null default 0,
  created_at timestamptz not null
);
comment on table reaction_subscribers is 'A consumer of domain events that this installation runs.';
comment on column reaction_subscribers.types is 'Event types that it consumes; only processes whose build has the same list work for it.';
comment on column reaction_subscribers.position is 'Events up to this position are entered in reaction_streams.';
comment on column reaction_subscribers.seen_at is 'Last confirmation by a process that has this subscriber.';
comment on column reaction_subscribers.build is 'Number of migrations of the build that registered the types.';

create table reaction_streams (
  organization_id uuid not null references organizations on delete cascade,
  subscriber text not null references reaction_subscribers on delete cascade,
  position bigint not null,
  head bigint not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz,
  last_error text,
  waits_for uuid,
  primary key (organization_id, subscriber)
) with (fillfactor = 80);
comment on table reaction_streams is 'The progress of a subscriber in one organization; created with the first event that it consumes there.';
comment on column reaction_streams.position is 'Position of the last event applied or passed; written in the transaction of its effects.';
comment on column reaction_streams.head is 'Position of the last event to apply.';
comment on column reaction_streams.attempts is 'Failures of the next event.';
comment on column reaction_streams.waits_for is 'The parked event that has to be replayed or discarded before the stream continues.';
create index reaction_streams_behind on reaction_streams (subscriber, organization_id) where head > position;
call heron_guard_rows('reaction_streams');

create table reaction_parked_events (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  subscriber text not null references reaction_subscribers on delete cascade,
  event_id uuid not null,
  event_type text not null,
  position bigint not null,
  attempts integer not null,
  last_error text not null,
  state text not null check (state in ('parked', 'replayed', 'discarded')),
  parked_at timestamptz not null,
  settled_at timestamptz
);
comment on table reaction_parked_events is 'An event that a subscriber failed on too often; it can be replayed or discarded.';
create unique index reaction_parked_events_open on reaction_parked_events (event_id, subscriber) where state = 'parked';
create index reaction_parked_events_settled on reaction_parked_events (settled_at) where settled_at is not null;
create index reaction_parked_events_org on reaction_parked_events (organization_id, id desc);
call heron_guard_rows('reaction_parked_events');

create table blobs (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  size bigint not null,
  store text not null default 'postgres' check (store in ('postgres', 'disk', 's3')),
  store_key text,
  moving_to text check (moving_to in ('postgres', 'disk', 's3')),
  moving_key text,
  moving_since timestamptz,
  created_at timestamptz not null
);
comment on table blobs is 'A file that Heron keeps, such as an attachment or an upload.';
comment on column blobs.size is 'Bytes.';
comment on column blobs.store is 'Storage of the bytes: blob_chunks, or an external store under store_key.';
comment on column blobs.moving_to is 'The store to which a worker is copying the bytes.';
create index blobs_organization on blobs (organization_id) include (size);
create index blobs_store on blobs (store, created_at);
call heron_guard_rows('blobs');

create table blob_chunks (
  blob_id uuid not null references blobs on delete cascade,
  seq integer not null,
  bytes bytea not null,
  primary key (blob_id, seq)
);
comment on table blob_chunks is 'A part of the bytes of a file that PostgreSQL stores.';
call heron_guard_rows('blob_chunks',
  'exists (select from blobs b where b.id = blob_id and b.organization_id = heron_organization())');

create table blob_removals (
  id bigint generated always as identity primary key,
  store text not null check (store in ('disk', 's3')),
  store_key text not null,
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  last_error text,
  created_at timestamptz not null default now()
);
comment on table blob_removals is 'Bytes in an external store whose file is deleted, until the store has deleted them.';
create index blob_removals_due on blob_removals (due_at);

-- Notes the bytes to remove, however the blob is deleted: with its file, its contact or its organization.
create function blob_is_gone() returns trigger language plpgsql security definer set search_path from current as $$
begin
  insert into blob_removals (store, store_key)
  select store, key from (values (old.store, old.store_key), (old.moving_to, old.moving_key)) as left_over(store, key)
  where key is not null;
  return null;
end $$;
create trigger blobs_gone after delete on blobs
  for each row when (old.store_key is not null or old.moving_key is not null) execute function blob_is_gone();

create table dead_letters (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  task_id uuid not null,
  task_type text not null,
  payload jsonb not null default '{}',
  last_error jsonb not null default '""',
  attempts integer not null default 0,
  max_attempts integer not null default 0,
  status text not null default 'pending' check (status in ('pending', 'replayed')),
  next_retry_at timestamptz,
  replayed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table dead_letters is 'Background work that was given up; a replay starts it again.';
create index dead_letters_org on dead_letters (organization_id, id desc);
create unique index dead_letters_pending on dead_letters (task_type, task_id) where status = 'pending';
create index dead_letters_due on dead_letters (next_retry_at) where status = 'pending' and next_retry_at is not null;
create index dead_letters_passed_over on dead_letters (organization_id, (payload ->> 'replay_id')) where task_type = 'goal_replay_event';
call heron_guard_rows('dead_letters');

create table workers (
  id uuid primary key,
  roles text[] not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  blob_place text,
  codec_keys text[] not null default '{}'
);
comment on table workers is 'A worker process that is alive.';
comment on column workers.blob_place is 'The one external place of files that it can reach; null while it keeps files in PostgreSQL.';
comment on column workers.codec_keys is 'Ids of its keys for payloads in Temporal.';

create table reconciliations (
  family text primary key,
  position text,
  began_at timestamptz not null,
  checked bigint not null default 0,
  missing bigint not null default 0,
  ended_at timestamptz,
  last_checked bigint,
  last_missing bigint
);
comment on table reconciliations is 'The result of the last check for missing workflow runs, one row for each workflow family.';
comment on column reconciliations.position is 'Progress of a check that is under way; null between checks.';
comment on column reconciliations.ended_at is 'End of the last complete check.';
`;
