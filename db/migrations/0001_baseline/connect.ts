import { divided } from './divided.ts';

/** Tables for apps, webhooks and automations. */
export const CONNECT = `
create table app_connections (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  base_url text not null,
  secret bytea not null,
  created_by uuid references users on delete set null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint app_connections_name_key unique (organization_id, name),
  constraint app_connections_owner_key unique (organization_id, id)
);
comment on table app_connections is 'A customer''s app that campaign steps call.';
comment on column app_connections.base_url is 'Base URL without query, fragment and trailing slash.';
comment on column app_connections.secret is 'Secret of the app, sealed under "app_connections/<id>".';
alter table campaign_steps add constraint campaign_steps_app_connection_fkey
  foreign key (organization_id, app_connection_id) references app_connections (organization_id, id);
call heron_guard_rows('app_connections');

create table webhook_endpoints (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  application_id uuid references oauth_applications on delete cascade,
  url text not null,
  description text not null default '',
  event_types text[] not null default '{}',
  enabled boolean not null default true,
  disabled_reason jsonb,
  verified_at timestamptz,
  ownership_confirmed boolean not null default false,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_failure_reason jsonb,
  consecutive_failures integer not null default 0,
  failing_since timestamptz,
  challenging boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table webhook_endpoints is 'A URL that receives domain events.';
comment on column webhook_endpoints.application_id is 'The application that manages the endpoint. Such an endpoint is not in the workspace''s own list.';
comment on column webhook_endpoints.event_types is 'Event types. Empty: all events except firehose events.';
comment on column webhook_endpoints.disabled_reason is 'Message with the reason why the installation disabled the endpoint.';
comment on column webhook_endpoints.failing_since is 'First failure since the last success.';
comment on column webhook_endpoints.challenging is 'True while the endpoint of an application is enabled but has not answered its challenge.';
create index webhook_endpoints_org on webhook_endpoints (organization_id, id desc);
create unique index webhook_endpoints_managed on webhook_endpoints (application_id, organization_id) where application_id is not null;
create index webhook_endpoints_challenging on webhook_endpoints (id) where challenging and verified_at is null;
call heron_guard_rows('webhook_endpoints');

create table webhook_secrets (
  id uuid primary key,
  endpoint_id uuid references webhook_endpoints on delete cascade,
  application_id uuid references oauth_applications on delete cascade,
  sealed bytea not null,
  created_at timestamptz not null,
  check ((endpoint_id is null) <> (application_id is null))
);
comment on table webhook_secrets is 'A signing secret of an endpoint or application. The newest signs; older secrets are kept for open deliveries.';
create index webhook_secrets_application on webhook_secrets (application_id, id desc) where application_id is not null;
create index webhook_secrets_endpoint on webhook_secrets (endpoint_id, id desc) where endpoint_id is not null;
call heron_guard_rows('webhook_secrets',
  'exists (select from webhook_endpoints e where e.id = endpoint_id and e.organization_id = heron_organization())
  or exists (select from oauth_applications a where a.id = application_id and a.organization_id = heron_organization())');

create table webhook_payloads (
  event_id uuid primary key,
  organization_id uuid not null,
  event_type text not null,
  body text not null,
  created_at timestamptz not null
) partition by range (event_id);
comment on table webhook_payloads is 'The body of an event as receivers get it, byte for byte the same in every attempt.';
${divided('webhook_payloads', 'id')}
call heron_guard_rows('webhook_payloads');

create table webhook_deliveries (
  id uuid primary key,
  organization_id uuid not null,
  endpoint_id uuid not null references webhook_endpoints on delete cascade,
  application_id uuid,
  event_id uuid not null,
  event_type text not null,
  batch_id uuid,
  status text not null check (status in ('pending', 'in_flight', 'delivered', 'failed', 'abandoned')),
  attempt_count integer not null default 0,
  max_attempts integer not null default 8,
  earlier_attempts integer not null default 0,
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  claimed_until timestamptz,
  response_status integer,
  response_body_excerpt text,
  error_reason jsonb,
  secret_id uuid,
  blocked_reason jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null
) partition by range (id);
comment on table webhook_deliveries is 'An event to be delivered to one endpoint.';
comment on column webhook_deliveries.batch_id is 'The batch that makes the first attempt, or all attempts at a failing endpoint. Null once the delivery has its own run, or none.';
comment on column webhook_deliveries.earlier_attempts is 'Attempts before the latest redelivery. The backoff counts only later attempts.';
comment on column webhook_deliveries.claimed_until is 'End of the claim of the latest attempt, by PostgreSQL''s clock. A delivery in flight is taken over only after it.';
comment on column webhook_deliveries.secret_id is 'The secret that signed its first attempt.';
comment on column webhook_deliveries.blocked_reason is 'Message with the reason why its run keeps failing.';
-- Three lists (of an organization, an endpoint, an application), each whole, by status and by event type: any page costs the same.
-- Ids are never null; "nulls last" keeps the planner off the primary key, whose order is the same but covers all organizations.
create index webhook_deliveries_org on webhook_deliveries (organization_id, id desc nulls last) where application_id is null;
create index webhook_deliveries_org_status on webhook_deliveries (organization_id, status, id desc nulls last) where application_id is null;
create index webhook_deliveries_org_type on webhook_deliveries (organization_id, event_type, id desc nulls last) where application_id is null;
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id desc nulls last);
create index webhook_deliveries_endpoint_status on webhook_deliveries (endpoint_id, status, id desc nulls last) where application_id is null;
create index webhook_deliveries_endpoint_type on webhook_deliveries (endpoint_id, event_type, id desc nulls last) where application_id is null;
create index webhook_deliveries_application on webhook_deliveries (application_id, id desc nulls last) where application_id is not null;
create index webhook_deliveries_application_status on webhook_deliveries (application_id, status, id desc nulls last) where application_id is not null;
create index webhook_deliveries_application_type on webhook_deliveries (application_id, event_type, id desc nulls last) where application_id is not null;
create index webhook_deliveries_batch on webhook_deliveries (batch_id, id) where batch_id is not null and status in ('pending', 'in_flight', 'failed');
create index webhook_deliveries_own_run on webhook_deliveries (id) where batch_id is null and status in ('pending', 'in_flight', 'failed');
${divided('webhook_deliveries', 'id', 85)}
call heron_guard_rows('webhook_deliveries');

create table webhook_attempts (
  delivery_id uuid not null references webhook_deliveries on delete cascade,
  attempt integer not null,
  organization_id uuid not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  response_status integer,
  error_reason jsonb,
  batch_id uuid,
  primary key (delivery_id, attempt)
) partition by range (delivery_id);
comment on table webhook_attempts is 'One HTTP request of a delivery.';
comment on column webhook_attempts.duration_ms is 'Duration (ms) of the request.';
comment on column webhook_attempts.batch_id is 'The batch whose run made the attempt. Null if the delivery had its own run.';
${divided('webhook_attempts', 'id')}
call heron_guard_rows('webhook_attempts');

create table webhook_batches (
  id uuid primary key,
  opened_at timestamptz not null
);
comment on table webhook_batches is 'A batch of first attempts that the fan-out may still extend. Its run deletes the row before it ends.';

create table webhook_counts (
  organization_id uuid not null references organizations on delete cascade,
  minute timestamptz not null,
  subject text not null,
  admitted integer not null,
  primary key (organization_id, minute, subject)
);
comment on table webhook_counts is 'Events delivered per minute, of an endpoint or of an event type in an organization.';
call heron_guard_rows('webhook_counts');

create table webhook_throttle_drops (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  endpoint_id uuid not null references webhook_endpoints on delete cascade,
  event_type text not null,
  reason text not null check (reason in ('endpoint_rate', 'event_type_rate')),
  minute timestamptz not null,
  dropped integer not null,
  last_event_id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (endpoint_id, event_type, reason, minute)
);
comment on table webhook_throttle_drops is 'Events dropped because of a rate limit, per minute.';
create index webhook_throttle_drops_org on webhook_throttle_drops (organization_id, id desc nulls last);
call heron_guard_rows('webhook_throttle_drops');

create table automations (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  enabled boolean not null,
  trigger_event text not null,
  filter jsonb not null,
  graph jsonb not null,
  author_rights text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (organization_id, id)
);
comment on table automations is 'A flow of actions that starts from a trigger.';
comment on column automations.trigger_event is 'An event of domain/connect/triggers, or automation.called.';
comment on column automations.filter is 'Condition on the trigger''s events.';
comment on column automations.author_rights is 'Rights of the person who saved the automation last.';
create index automations_organization on automations (organization_id, id desc);
create index automations_trigger on automations (organization_id, trigger_event) where enabled;
alter table campaign_steps add constraint campaign_steps_automation_fkey foreign key (organization_id, automation_id) references automations (organization_id, id);
call heron_guard_rows('automations');

create table automation_references (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  automation_id uuid not null references automations on delete cascade,
  used_automation_id uuid references automations,
  app_connection_id uuid references app_connections
);
comment on table automation_references is 'An object used by an automation''s graph. The reference prevents its deletion.';
create index automation_references_automation on automation_references (automation_id);
create index automation_references_used on automation_references (used_automation_id) where used_automation_id is not null;
create index automation_references_app on automation_references (app_connection_id) where app_connection_id is not null;
call heron_guard_rows('automation_references');

create table automation_runs (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  automation_id uuid not null references automations on delete cascade,
  cause text not null,
  trigger_event text not null,
  contact_id uuid references contacts on delete set null,
  status text not null check (status in ('running', 'success', 'error')),
  data jsonb not null,
  node_results jsonb not null,
  error_detail jsonb,
  hops integer not null,
  graph jsonb,
  waiting jsonb,
  blocked_reason jsonb,
  started_at timestamptz not null,
  finished_at timestamptz,
  rights text[],
  constraint automation_runs_cause_key unique (automation_id, cause)
);
comment on table automation_runs is 'An execution of an automation.';
comment on column automation_runs.cause is 'Cause of the run: event/<id>, step/<step run> or node/<run>/<node>. Unique per automation.';
comment on column automation_runs.data is 'Data of the trigger. Empty once its contact was erased.';
comment on column automation_runs.error_detail is 'Message with the reason of the failure.';
comment on column automation_runs.hops is 'Number of consecutive reactions that led to the run.';
comment on column automation_runs.graph is 'Graph at the start of the run. Null once the run has ended.';
comment on column automation_runs.waiting is 'Nodes that the run waits for. Null once the run has ended.';
comment on column automation_runs.rights is 'Rights with which the run starts other automations. Null: none.';
create index automation_runs_newest on automation_runs (automation_id, id desc);
create index automation_runs_open on automation_runs (id) where status = 'running';
create index automation_runs_contact on automation_runs (contact_id) where contact_id is not null;
create index automation_runs_running on automation_runs (automation_id) where status = 'running';
create index automation_runs_organization on automation_runs (organization_id);
call heron_guard_rows('automation_runs');

create table automation_budgets (
  organization_id uuid primary key references organizations on delete cascade,
  hour timestamptz not null,
  first_runs integer not null,
  led_runs integer not null
);
comment on table automation_budgets is 'Automation runs per hour. The counts stop runs that multiply.';
comment on column automation_budgets.hour is 'Start of the UTC hour.';
comment on column automation_budgets.first_runs is 'Runs of this hour that were started by an outside event.';
comment on column automation_budgets.led_runs is 'Runs of this hour that other runs caused, including runs that were not started.';
call heron_guard_rows('automation_budgets');
`;
