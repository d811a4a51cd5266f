import type { Knex } from 'knex';

/** Outbound webhooks: endpoints of workspaces and of applications, deliveries with their attempts, and the order of events. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Given out after commit by the fan-out, which alone assigns it: whoever reads up to a position has missed nothing before it.
    create sequence domain_event_positions;
    alter table domain_events add column position bigint;
    create index domain_events_unplaced on domain_events (id) where position is null;
    create index domain_events_position on domain_events (organization_id, position) where position is not null;
    -- Nobody reads them by organization and id: order is by position, age by id.
    drop index domain_events_org;

    -- Signing secrets, sealed. An endpoint's (or application's) newest signs; older ones stay for deliveries that began with them.
    create table webhook_secrets (
      id uuid primary key,
      endpoint_id uuid,
      application_id uuid references oauth_applications on delete cascade,
      sealed bytea not null,
      created_at timestamptz not null,
      check ((endpoint_id is null) <> (application_id is null))
    );
    create index webhook_secrets_application on webhook_secrets (application_id, id desc) where application_id is not null;

    create table webhook_endpoints (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      -- Set on the endpoint an application has in a workspace that granted it; it signs with the application's secret.
      application_id uuid references oauth_applications on delete cascade,
      url text not null,
      description text not null default '',
      -- Empty means all events that are not firehose.
      event_types text[] not null default '{}',
      enabled boolean not null default true,
      -- Why the installation switched it off; null when a person did, or nobody.
      disabled_reason text,
      verified_at timestamptz,
      ownership_confirmed boolean not null default false,
      last_success_at timestamptz,
      last_failure_at timestamptz,
      last_failure_reason text,
      consecutive_failures integer not null default 0,
      -- Since when it has failed without a success in between.
      failing_since timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index webhook_endpoints_org on webhook_endpoints (organization_id, id desc);
    create unique index webhook_endpoints_managed on webhook_endpoints (application_id, organization_id) where application_id is not null;
    alter table webhook_secrets add foreign key (endpoint_id) references webhook_endpoints on delete cascade;
    create index webhook_secrets_endpoint on webhook_secrets (endpoint_id, id desc) where endpoint_id is not null;

    -- The body of an event as every receiver gets it, byte for byte the same however often it is sent.
    create table webhook_payloads (
      event_id uuid primary key,
      organization_id uuid not null,
      event_type text not null,
      body text not null,
      created_at timestamptz not null
    );

    create table webhook_deliveries (
      id uuid primary key,
      organization_id uuid not null,
      endpoint_id uuid not null references webhook_endpoints on delete cascade,
      application_id uuid,
      event_id uuid not null,
      event_type text not null,
      -- The batch that makes the first attempt; null once a run of its own, or nobody, has the delivery.
      batch_id uuid,
      status text not null check (status in ('pending', 'in_flight', 'delivered', 'failed', 'abandoned')),
      attempt_count integer not null default 0,
      max_attempts integer not null default 8,
      -- Attempts made before the latest redelivery; the backoff counts from there.
      earlier_attempts integer not null default 0,
      next_attempt_at timestamptz,
      last_attempt_at timestamptz,
      response_status integer,
      response_body_excerpt text,
      error_reason text,
      -- The secret its first attempt was signed with (DECISIONS 8).
      secret_id uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null
    ) with (fillfactor = 85);
    -- Three lists (a workspace's own, an endpoint's, an application's), each whole, by status and by event type: any page costs the same.
    -- Ids are never null; saying nulls last keeps the planner off the primary key, whose order is the same but everybody's.
    create index webhook_deliveries_org on webhook_deliveries (organization_id, id desc nulls last) where application_id is null;
    create index webhook_deliveries_org_status on webhook_deliveries (organization_id, status, id desc nulls last) where application_id is null;
    create index webhook_deliveries_org_type on webhook_deliveries (organization_id, event_type, id desc nulls last) where application_id is null;
    create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id desc nulls last);
    create index webhook_deliveries_endpoint_status on webhook_deliveries (endpoint_id, status, id desc nulls last) where application_id is null;
    create index webhook_deliveries_endpoint_type on webhook_deliveries (endpoint_id, event_type, id desc nulls last) where application_id is null;
    create index webhook_deliveries_application on webhook_deliveries (application_id, id desc nulls last) where application_id is not null;
    create index webhook_deliveries_application_status on webhook_deliveries (application_id, status, id desc nulls last) where application_id is not null;
    create index webhook_deliveries_application_type on webhook_deliveries (application_id, event_type, id desc nulls last) where application_id is not null;
    create index webhook_deliveries_batch on webhook_deliveries (batch_id, id) where batch_id is not null and status in ('pending', 'in_flight');

    -- A batch is here while the fan-out may still add to it; its run takes the row away, and only then may end.
    create table webhook_batches (
      id uuid primary key,
      opened_at timestamptz not null
    );

    -- How much was let through per minute: of an endpoint, or of an event type in a workspace.
    create table webhook_counts (
      organization_id uuid not null references organizations on delete cascade,
      minute timestamptz not null,
      subject text not null,
      admitted integer not null,
      primary key (organization_id, minute, subject)
    );

    create table webhook_attempts (
      delivery_id uuid not null references webhook_deliveries on delete cascade,
      attempt integer not null,
      organization_id uuid not null,
      started_at timestamptz not null,
      duration_ms integer not null,
      response_status integer,
      error_reason text,
      primary key (delivery_id, attempt)
    );

    -- Events that were not delivered because of a rate, added up per minute.
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
    create index webhook_throttle_drops_org on webhook_throttle_drops (organization_id, id desc nulls last);
  `);
}
