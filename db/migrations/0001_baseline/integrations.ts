/** Tables for accounts at providers, such as CRMs and chats, and for Heron's actions there. */
export const INTEGRATIONS = `
create table integration_connections (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  provider text not null,
  label text not null,
  status text not null check (status in ('connected', 'degraded', 'reauth_required', 'disconnected', 'pending', 'authorizing')),
  auth_method text not null check (auth_method in ('oauth', 'api_key', 'webhook')),
  sealed bytea not null,
  sealed_version integer not null default 1,
  token_expires_at timestamptz,
  refreshing_until timestamptz,
  granted_scopes text[] not null default '{}',
  external_account_id text not null,
  external_account_name text not null,
  api_base text,
  display_fields jsonb not null,
  config_capabilities jsonb not null,
  sync_direction text not null check (sync_direction in ('push', 'pull', 'both')),
  connected_by uuid,
  health text not null default 'unknown' check (health in ('unknown', 'healthy', 'degraded', 'down')),
  health_detail jsonb,
  health_checked_at timestamptz,
  health_due_at timestamptz not null,
  last_synced_at timestamptz,
  last_error jsonb,
  last_error_at timestamptz,
  signing_secret bytea,
  inbound_hash text,
  inbound_external_id text,
  blocked_reason jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table integration_connections is 'An account at a provider, such as a CRM or a chat.';
comment on column integration_connections.sealed is 'The entered secret or the OAuth tokens, sealed under "integration_connections/<id>".';
comment on column integration_connections.sealed_version is 'Increases with every change of the sealed secret. The second of two concurrent refreshes thereby detects the first.';
comment on column integration_connections.refreshing_until is 'End of the lease of the process that refreshes the tokens.';
comment on column integration_connections.api_base is 'Base URL of the account''s API, if it differs per account.';
comment on column integration_connections.connected_by is 'Kept when the account of the person is deleted.';
comment on column integration_connections.health_due_at is 'Time of the account''s next health check.';
comment on column integration_connections.signing_secret is 'Secret for verifying the provider''s webhooks, sealed under "integration_connections/<id>/signing". Created when first needed.';
comment on column integration_connections.inbound_hash is 'SHA-256 of the secret in the URL that the provider calls.';
comment on column integration_connections.inbound_external_id is 'The provider''s id of the webhook that Heron registered.';
comment on column integration_connections.blocked_reason is 'Message with the reason why its run keeps failing.';
create index integration_connections_organization on integration_connections (organization_id, id desc);
create index integration_connections_health on integration_connections (health_due_at) where status in ('connected', 'degraded');
create unique index integration_connections_inbound on integration_connections (inbound_hash) where inbound_hash is not null;
create index integration_connections_account on integration_connections (provider, external_account_id);
call heron_guard_rows('integration_connections');

create table integration_pace (
  connection_id uuid primary key references integration_connections on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  tokens double precision not null,
  counted_at timestamptz not null,
  paused_until timestamptz,
  failures integer not null default 0
) with (fillfactor = 70);
comment on table integration_pace is 'Rate limit of one connection, shared by all workers.';
comment on column integration_pace.tokens is 'Calls that the token bucket permits now.';
comment on column integration_pace.paused_until is 'End of a pause that the provider requested, or that follows failures.';
comment on column integration_pace.failures is 'Consecutive calls without an answer.';
create index integration_pace_organization on integration_pace (organization_id);
call heron_guard_rows('integration_pace');

create table integration_oauth_states (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  provider text not null,
  state_hash text not null unique,
  session_id text not null,
  connection_id uuid references integration_connections on delete cascade,
  label text not null,
  sealed bytea not null,
  actor jsonb not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null
);
comment on table integration_oauth_states is 'An OAuth consent at a provider that is in progress.';
comment on column integration_oauth_states.session_id is 'The session that started the consent. Only this session may finish it.';
comment on column integration_oauth_states.connection_id is 'The connection to renew. Null for a new connection.';
comment on column integration_oauth_states.sealed is 'PKCE verifier, sealed under "integration_oauth_states/<id>".';
create index integration_oauth_states_organization on integration_oauth_states (organization_id);
create index integration_oauth_states_expired on integration_oauth_states (expires_at);
call heron_guard_rows('integration_oauth_states');

create table integration_revocations (
  connection_id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  provider text not null,
  sealed bytea not null,
  api_base text,
  inbound_external_id text,
  attempts integer not null default 0,
  due_at timestamptz not null,
  external_account_id text not null default '',
  created_at timestamptz not null
);
comment on table integration_revocations is 'A consent or webhook of a removed connection that still has to be revoked at its provider.';
comment on column integration_revocations.sealed is 'The sealed secret of the connection.';
comment on column integration_revocations.external_account_id is 'Account id at the provider. Empty for connections without an account id.';
create index integration_revocations_due on integration_revocations (due_at);
create index integration_revocations_organization on integration_revocations (organization_id);
call heron_guard_rows('integration_revocations');

create table integration_runs (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  connection_id uuid not null references integration_connections on delete cascade,
  kind text not null check (kind in ('connect', 'refresh', 'dispatch', 'push', 'health', 'inbound')),
  status text not null check (status in ('success', 'error')),
  detail jsonb,
  records_processed integer not null,
  started_at timestamptz not null,
  finished_at timestamptz
);
comment on table integration_runs is 'A line of a connection''s log, such as a health check or a push.';
create index integration_runs_connection on integration_runs (connection_id, id desc);
create index integration_runs_started on integration_runs (started_at);
create index integration_runs_organization on integration_runs (organization_id);
call heron_guard_rows('integration_runs');

create table integration_subscriptions (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  connection_id uuid not null references integration_connections on delete cascade,
  event_type text not null,
  action text not null,
  config jsonb not null,
  enabled boolean not null default true,
  use_case text not null check (use_case in ('crm_sync', 'notify', 'custom')),
  automation_id uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table integration_subscriptions is 'An action at a provider for each event of one type.';
comment on column integration_subscriptions.automation_id is 'The automation that contains the action as a step.';
create index integration_subscriptions_connection on integration_subscriptions (connection_id, id);
create index integration_subscriptions_event on integration_subscriptions (organization_id, event_type) where enabled;
call heron_guard_rows('integration_subscriptions');

create table integration_field_mappings (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  connection_id uuid not null references integration_connections on delete cascade,
  subscription_id uuid references integration_subscriptions on delete cascade,
  direction text not null check (direction in ('push', 'pull', 'both')),
  object_name text not null,
  source_field text not null,
  external_field text not null,
  transform text not null check (transform in ('none', 'static', 'uppercase', 'lowercase', 'trim')),
  static_value text not null,
  is_default boolean not null default false,
  position integer not null,
  created_at timestamptz not null
);
comment on table integration_field_mappings is 'A field at the provider, and the source of its value.';
comment on column integration_field_mappings.source_field is 'Source of the value. Empty for a static value.';
create index integration_field_mappings_connection on integration_field_mappings (connection_id, position);
create index integration_field_mappings_subscription on integration_field_mappings (subscription_id) where subscription_id is not null;
create index integration_field_mappings_organization on integration_field_mappings (organization_id);
call heron_guard_rows('integration_field_mappings');

create table integration_deliveries (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  connection_id uuid not null references integration_connections on delete cascade,
  lane_id uuid not null,
  position bigint generated always as identity,
  contact_id uuid references contacts on delete cascade,
  subscription_id uuid references integration_subscriptions on delete set null,
  action text not null,
  config jsonb not null,
  trigger_event text,
  data jsonb not null,
  occurred_at timestamptz not null,
  source jsonb,
  state text not null check (state in ('pending', 'failed')),
  attempts integer not null default 0,
  last_error jsonb,
  failed_at timestamptz,
  created_at timestamptz not null
);
comment on table integration_deliveries is 'An action at a provider that is pending or failed. Deleted when done.';
comment on column integration_deliveries.lane_id is 'Id of the contact, or of the connection if there is no contact. Deliveries of a lane run one after another.';
comment on column integration_deliveries.trigger_event is 'Event that caused the delivery. Null if there is none.';
comment on column integration_deliveries.source is 'The run that requested the delivery. It receives the outcome as an event.';
create index integration_deliveries_lane on integration_deliveries (connection_id, lane_id, position) where state = 'pending';
create index integration_deliveries_failed on integration_deliveries (failed_at) where state = 'failed';
create index integration_deliveries_contact on integration_deliveries (contact_id) where contact_id is not null;
create index integration_deliveries_subscription on integration_deliveries (subscription_id) where subscription_id is not null;
create index integration_deliveries_organization on integration_deliveries (organization_id);
-- Index of deliveries by the requesting run, so that the run can cancel them.
create index integration_deliveries_run on integration_deliveries ((source ->> 'run_id')) where source is not null;
call heron_guard_rows('integration_deliveries');

create table integration_lanes (
  connection_id uuid not null references integration_connections on delete cascade,
  lane_id uuid not null,
  organization_id uuid not null references organizations on delete cascade,
  due_at timestamptz not null,
  lease uuid,
  primary key (connection_id, lane_id)
) with (fillfactor = 70);
comment on table integration_lanes is 'A lane with pending deliveries. Writers lock its row, and a worker leases it.';
comment on column integration_lanes.due_at is 'Earliest attempt of its first delivery, or the end of its lease.';
comment on column integration_lanes.lease is 'Id of the current lease of a worker.';
create index integration_lanes_due on integration_lanes (connection_id, due_at);
create index integration_lanes_organization on integration_lanes (organization_id);
call heron_guard_rows('integration_lanes');

create table integration_records (
  connection_id uuid not null references integration_connections on delete cascade,
  contact_id uuid not null references contacts on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  external_id text,
  email text,
  lease uuid,
  leased_until timestamptz,
  check ((external_id is null) = (email is null)),
  primary key (connection_id, contact_id)
) with (fillfactor = 70);
comment on table integration_records is 'The record of a contact at a CRM, leased by whoever writes to it.';
comment on column integration_records.external_id is 'The record''s id at the CRM; null before it is known.';
comment on column integration_records.email is 'The contact''s address in the record.';
comment on column integration_records.lease is 'Id of the lease of the worker or request that writes.';
create index integration_records_contact on integration_records (contact_id);
create index integration_records_organization on integration_records (organization_id);
call heron_guard_rows('integration_records');

create table integration_inbound (
  connection_id uuid not null references integration_connections on delete cascade,
  digest text not null,
  organization_id uuid not null references organizations on delete cascade,
  received_at timestamptz not null,
  unread_id uuid unique,
  unread_body text,
  check ((unread_id is null) = (unread_body is null)),
  primary key (connection_id, digest)
);
comment on table integration_inbound is 'A received booking webhook, identified by its digest so that it is applied only once.';
comment on column integration_inbound.digest is 'SHA-256 of the bytes of the webhook.';
comment on column integration_inbound.unread_body is 'A verified body (base64) that could not be read, kept until it can be. Its dead letter refers to unread_id.';
create index integration_inbound_received on integration_inbound (received_at);
create index integration_inbound_organization on integration_inbound (organization_id);
call heron_guard_rows('integration_inbound');
`;
