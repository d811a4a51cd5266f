import { divided } from './divided.ts';

/** Tables that every area writes to: events, audit log, outbox, files and dead letters. */
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
comment on table audit_logs is 'A change, with the person and credential that made it. Forms the audit trail.';
comment on column audit_logs.oauth_grant_id is 'OAuth grant of the application that made the change.';
create index audit_logs_newest on audit_logs (organization_id, created_at desc, id desc);
create index audit_logs_entity on audit_logs (organization_id, entity_id, created_at desc, id desc) where entity_id is not null;
create index audit_logs_request on audit_logs (organization_id, request_id) where request_id is not null;
create index audit_logs_actor on audit_logs (organization_id, user_id, created_at desc, id desc) where user_id is not null;
${divided('audit_logs', 'moment')}
call heron_guard_rows('audit_logs');

-- Assigned only by the fan-out after commit, so that a reader at some position has missed no earlier event.
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
comment on column domain_events.position is 'Position in the event stream, assigned by the fan-out after commit. Null until then.';
comment on column domain_events.hops is 'Number of reactions between this event and an outside cause. Null means 0.';
create index domain_events_unplaced on domain_events (organization_id, id) where position is null;
create index domain_events_position on domain_events (organization_id, position) where position is not null;
-- The stream of the whole installation, in commit order.
create index domain_events_stream on domain_events (position) where position is not null;
${divided('domain_events', 'id')}
call heron_guard_rows('domain_events');

create table outbox (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('start', 'signal', 'cancel')),
  workflow_id text not null,
  tenant text not null default 'installation',
  payload jsonb not null,
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  last_error text,
  refusals integer not null default 0,
  parked_at timestamptz,
  created_at timestamptz not null default now()
);
comment on table outbox is 'An intent for Temporal, written with the change that causes it. The relay sends it after commit and deletes it.';
comment on column outbox.tenant is 'Organization whose intent it is, or "installation". The relay takes the intents of all in equal shares.';
comment on column outbox.refusals is 'Attempts that Temporal refused because of this intent. Only these count towards parking; a missing answer does not.';
comment on column outbox.parked_at is 'Time at which the intent was parked after too many refusals. It is tried again at available_at.';
create index outbox_available on outbox (available_at, id);
create index outbox_tried on outbox (tenant, available_at, id) where attempts > 0;
create index outbox_new on outbox (tenant, available_at, id) where attempts = 0;
-- Gives the order within one workflow: an unfinished intent delays the later ones.
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
comment on table reaction_subscribers is 'A consumer of domain events that runs in this installation.';
comment on column reaction_subscribers.types is 'Event types that it consumes. Only processes whose build has the same list work for it.';
comment on column reaction_subscribers.position is 'Events up to this position are entered in reaction_streams.';
comment on column reaction_subscribers.seen_at is 'Last confirmation by a process that has this subscriber.';
comment on column reaction_subscribers.build is 'Number of migrations in the build that registered the types.';

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
comment on table reaction_streams is 'Progress of a subscriber in one organization. Created with the first event that the subscriber consumes there.';
comment on column reaction_streams.position is 'Position of the last applied or skipped event, written in the transaction of its effects.';
comment on column reaction_streams.head is 'Position of the last event to apply.';
comment on column reaction_streams.attempts is 'Failed attempts of the next event.';
comment on column reaction_streams.waits_for is 'The parked event that must be replayed or discarded before the stream continues.';
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
comment on table reaction_parked_events is 'An event on which a subscriber failed too often. It can be replayed or discarded.';
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
comment on column blobs.size is 'Size (bytes) of the file.';
comment on column blobs.store is 'Storage of the content: blob_chunks, or an external store under store_key.';
comment on column blobs.moving_to is 'Store to which a worker is copying the content.';
create index blobs_organization on blobs (organization_id) include (size);
create index blobs_store on blobs (store, created_at);
call heron_guard_rows('blobs');

create table blob_chunks (
  blob_id uuid not null references blobs on delete cascade,
  seq integer not null,
  bytes bytea not null,
  primary key (blob_id, seq)
);
comment on table blob_chunks is 'One part of a file''s content, for files stored in PostgreSQL.';
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
comment on table blob_removals is 'Content of a deleted file in an external store, listed until the store has deleted it.';
create index blob_removals_due on blob_removals (due_at);

-- Records the external content to delete, whatever deleted the blob: its file, contact or organization.
create function blob_is_gone() returns trigger language plpgsql security definer set search_path from current as $$
begin
  insert into blob_removals (store, store_key)
  select store, key from (values (old.store, old.store_key), (old.moving_to, old.moving_key)) as left_over(store, key)
  where key is not null;
  return null;
end $$;
create trigger blobs_gone after delete on blobs
  for each row when (old.store_key is not null or old.moving_key is not null) execute function blob_is_gone();

-- Deletes the blob of a deleted attachment or export, whatever deleted that row.
create function attachment_is_gone() returns trigger language plpgsql security definer set search_path from current as $$
begin
  delete from blobs where id = old.blob_id;
  return null;
end $$;
create trigger workspace_exports_gone after delete on workspace_exports
  for each row when (old.blob_id is not null) execute function attachment_is_gone();

create table dead_letters (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  task_id uuid not null,
  task_type text not null,
  payload jsonb not null default '{}',
  last_error jsonb not null,
  attempts integer not null default 0,
  max_attempts integer not null default 0,
  status text not null default 'pending' check (status in ('pending', 'replayed')),
  next_retry_at timestamptz,
  replayed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table dead_letters is 'Background work that was given up. A replay starts it again.';
create index dead_letters_org on dead_letters (organization_id, id desc);
create unique index dead_letters_pending on dead_letters (task_type, task_id) where status = 'pending';
create index dead_letters_due on dead_letters (next_retry_at) where status = 'pending' and next_retry_at is not null;
create index dead_letters_passed_over on dead_letters (organization_id, (payload ->> 'replay_id')) where task_type = 'goal_replay_event';
call heron_guard_rows('dead_letters');

create table installation (
  is_only boolean primary key default true check (is_only),
  id uuid not null default gen_random_uuid()
);
comment on table installation is 'The one row that identifies this installation. A restored backup keeps it.';
comment on column installation.id is 'Told by the tracking process at /health, so that a check of a tracking domain recognizes it.';
insert into installation default values;

create table workers (
  id uuid primary key,
  roles text[] not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  blob_place text,
  codec_keys text[] not null default '{}',
  clock_ahead_ms bigint not null default 0
);
comment on table workers is 'A worker process that is alive.';
comment on column workers.blob_place is 'Id of the external file store that the worker can reach. Null while the worker keeps files in PostgreSQL.';
comment on column workers.codec_keys is 'Ids of its keys for payloads in Temporal.';
comment on column workers.clock_ahead_ms is 'Time by which the clock of its machine is ahead of that of PostgreSQL. Negative if it is behind.';

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
comment on table reconciliations is 'Result of the last check for missing workflow runs, one row per workflow family.';
comment on column reconciliations.position is 'Progress of a running check. Null between checks.';
comment on column reconciliations.ended_at is 'End of the last complete check.';
`;
