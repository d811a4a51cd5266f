import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    organizations: 'ShareRowExclusiveLock',
    contacts: 'ShareRowExclusiveLock',
    campaigns: 'ShareRowExclusiveLock',
  },
  secondsAtMillionRows: 0,
};

/** Connections to providers, what is delivered there, and the meetings that come from there. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(CONNECTIONS);
  await knex.raw(DELIVERIES);
  await knex.raw(MEETINGS);
}

const CONNECTIONS = `
  create table integration_connections (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    provider text not null,
    label text not null,
    status text not null check (status in ('connected', 'degraded', 'reauth_required', 'disconnected', 'pending', 'authorizing')),
    auth_method text not null check (auth_method in ('oauth', 'api_key', 'webhook')),
    -- What was pasted, or the tokens.
    sealed bytea not null,
    -- Rises with every change of what is sealed, so that of two that refresh a token the second finds the first one's.
    sealed_version integer not null default 1,
    token_expires_at timestamptz,
    -- One process refreshes the tokens; it has until then.
    refreshing_until timestamptz,
    granted_scopes text[] not null default '{}',
    external_account_id text not null,
    external_account_name text not null,
    -- The base of the account's API, where it has one of its own.
    api_base text,
    display_fields jsonb not null,
    config_capabilities jsonb not null,
    sync_direction text not null check (sync_direction in ('push', 'pull', 'both')),
    -- Kept when they are gone.
    connected_by uuid,
    health text not null default 'unknown' check (health in ('unknown', 'healthy', 'degraded', 'down')),
    health_detail text,
    health_checked_at timestamptz,
    -- When the account is asked whether it still answers.
    health_due_at timestamptz not null,
    last_synced_at timestamptz,
    last_error text,
    last_error_at timestamptz,
    -- Signs what is sent to webhooks and what comes from the provider; made when it is first needed.
    signing_secret bytea,
    -- SHA-256 of the secret in the address that the provider calls.
    inbound_hash text,
    -- The provider's id of its webhook, where Heron has entered it.
    inbound_external_id text,
    -- Why its run does not go on, where that kept failing.
    blocked_reason text,
    created_at timestamptz not null,
    updated_at timestamptz not null
  );
  create index integration_connections_organization on integration_connections (organization_id, id desc);
  create index integration_connections_health on integration_connections (health_due_at) where status in ('connected', 'degraded');
  create unique index integration_connections_inbound on integration_connections (inbound_hash) where inbound_hash is not null;

  -- What one connection may still ask of its provider now: one row that every worker takes from.
  create table integration_pace (
    connection_id uuid primary key references integration_connections on delete cascade,
    organization_id uuid not null references organizations on delete cascade,
    tokens double precision not null,
    counted_at timestamptz not null,
    -- The provider asked to wait, or does not answer.
    paused_until timestamptz,
    -- Calls in a row to which it gave no answer.
    failures integer not null default 0
  ) with (fillfactor = 70);
  create index integration_pace_organization on integration_pace (organization_id);

  create table integration_oauth_states (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    provider text not null,
    state_hash text not null unique,
    -- The session that began it, and has to end it.
    session_id text not null,
    -- The account is connected anew under this id; null for a new connection.
    connection_id uuid references integration_connections on delete cascade,
    label text not null,
    -- PKCE verifier.
    sealed bytea not null,
    actor jsonb not null,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz
  );
  create index integration_oauth_states_organization on integration_oauth_states (organization_id);
  create index integration_oauth_states_expired on integration_oauth_states (expires_at);

  -- Consents and webhooks of connections that are gone, until their providers have ended them.
  create table integration_revocations (
    connection_id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    provider text not null,
    sealed bytea not null,
    api_base text,
    inbound_external_id text,
    attempts integer not null default 0,
    due_at timestamptz not null,
    created_at timestamptz not null
  );
  create index integration_revocations_due on integration_revocations (due_at);
  create index integration_revocations_organization on integration_revocations (organization_id);

  create table integration_subscriptions (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    connection_id uuid not null references integration_connections on delete cascade,
    event_type text not null,
    action text not null,
    config jsonb not null,
    enabled boolean not null default true,
    use_case text not null check (use_case in ('crm_sync', 'notify', 'custom')),
    -- The automation of which it is a step.
    automation_id uuid,
    created_at timestamptz not null,
    updated_at timestamptz not null
  );
  create index integration_subscriptions_connection on integration_subscriptions (connection_id, id);
  create index integration_subscriptions_event on integration_subscriptions (organization_id, event_type) where enabled;

  create table integration_field_mappings (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    connection_id uuid not null references integration_connections on delete cascade,
    subscription_id uuid references integration_subscriptions on delete cascade,
    direction text not null check (direction in ('push', 'pull', 'both')),
    object_name text not null,
    -- Empty where the value is static.
    source_field text not null,
    external_field text not null,
    transform text not null check (transform in ('none', 'static', 'uppercase', 'lowercase', 'trim')),
    static_value text not null,
    is_default boolean not null default false,
    position integer not null,
    created_at timestamptz not null
  );
  create index integration_field_mappings_connection on integration_field_mappings (connection_id, position);
  create index integration_field_mappings_subscription on integration_field_mappings (subscription_id) where subscription_id is not null;
  create index integration_field_mappings_organization on integration_field_mappings (organization_id);

  create table integration_runs (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    connection_id uuid not null references integration_connections on delete cascade,
    kind text not null check (kind in ('connect', 'refresh', 'dispatch', 'push', 'health', 'inbound')),
    status text not null check (status in ('success', 'error')),
    detail text not null,
    records_processed integer not null,
    started_at timestamptz not null,
    finished_at timestamptz
  );
  create index integration_runs_connection on integration_runs (connection_id, id desc);
  create index integration_runs_started on integration_runs (started_at);
  create index integration_runs_organization on integration_runs (organization_id);

  call heron_guard_rows('integration_connections');
  call heron_guard_rows('integration_pace');
  call heron_guard_rows('integration_oauth_states');
  call heron_guard_rows('integration_revocations');
  call heron_guard_rows('integration_subscriptions');
  call heron_guard_rows('integration_field_mappings');
  call heron_guard_rows('integration_runs');
`;

const DELIVERIES = `
  -- What is to be done at a provider. A row goes when it is done, and stays as failed when it is given up.
  create table integration_deliveries (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    connection_id uuid not null references integration_connections on delete cascade,
    -- Deliveries of a lane are made one after the other: those about one contact, and those about none.
    lane_id uuid not null,
    position bigint not null generated always as identity,
    contact_id uuid references contacts on delete cascade,
    subscription_id uuid references integration_subscriptions on delete set null,
    action text not null,
    config jsonb not null,
    -- Null where nothing that happened is behind it.
    trigger_event text,
    data jsonb not null,
    occurred_at timestamptz not null,
    -- Who asked, and gets the outcome as an event.
    source jsonb,
    state text not null check (state in ('pending', 'failed')),
    attempts integer not null default 0,
    last_error text,
    created_at timestamptz not null,
    failed_at timestamptz
  );
  create index integration_deliveries_lane on integration_deliveries (connection_id, lane_id, position) where state = 'pending';
  create index integration_deliveries_failed on integration_deliveries (failed_at) where state = 'failed';
  create index integration_deliveries_contact on integration_deliveries (contact_id) where contact_id is not null;
  create index integration_deliveries_subscription on integration_deliveries (subscription_id) where subscription_id is not null;
  create index integration_deliveries_organization on integration_deliveries (organization_id);

  -- A lane that has pending deliveries. Its row is locked by whoever adds to it or ends it, and leased by whoever delivers.
  create table integration_lanes (
    connection_id uuid not null references integration_connections on delete cascade,
    lane_id uuid not null,
    organization_id uuid not null references organizations on delete cascade,
    -- When its first delivery may be tried, or its lease ends.
    due_at timestamptz not null,
    -- Of the worker that has it.
    lease uuid,
    primary key (connection_id, lane_id)
  ) with (fillfactor = 70);
  create index integration_lanes_due on integration_lanes (connection_id, due_at);
  create index integration_lanes_organization on integration_lanes (organization_id);

  call heron_guard_rows('integration_deliveries');
  call heron_guard_rows('integration_lanes');
`;

const MEETINGS = `
  create table meetings (
    id uuid primary key,
    organization_id uuid not null references organizations on delete cascade,
    source text not null,
    -- Meetings outlive their connection and campaign, and end with their contact.
    connection_id uuid references integration_connections on delete set null,
    external_event_id text not null,
    -- What the provider called it before it was booked anew in place of itself.
    replaced_ids text[] not null default '{}',
    status text not null check (status in ('booked', 'rescheduled', 'canceled', 'completed', 'no_show')),
    invitee_email text not null,
    invitee_name text not null,
    event_name text not null,
    event_type text not null,
    scheduled_for timestamptz,
    end_time timestamptz,
    join_url text not null,
    location text not null,
    cancel_url text not null,
    reschedule_url text not null,
    canceled_reason text not null,
    contact_id uuid references contacts on delete cascade,
    campaign_id uuid references campaigns on delete set null,
    -- When the provider says that the state above came about: older news change nothing.
    news_at timestamptz not null,
    created_at timestamptz not null,
    updated_at timestamptz not null
  );
  create unique index meetings_external on meetings (organization_id, source, external_event_id) where external_event_id <> '';
  create index meetings_replaced on meetings using gin (replaced_ids) where replaced_ids <> '{}';
  create index meetings_created on meetings (organization_id, created_at desc, id desc);
  create index meetings_scheduled on meetings (organization_id, scheduled_for, id);
  create index meetings_contact on meetings (contact_id, created_at) where contact_id is not null;
  create index meetings_connection on meetings (connection_id) where connection_id is not null;
  create index meetings_campaign on meetings (campaign_id) where campaign_id is not null;
  create index meetings_email on meetings (organization_id, invitee_email) where contact_id is null;

  -- Webhooks of bookings that were taken, by the SHA-256 of their bytes, so that none is taken twice.
  create table integration_inbound (
    connection_id uuid not null references integration_connections on delete cascade,
    digest text not null,
    organization_id uuid not null references organizations on delete cascade,
    received_at timestamptz not null,
    primary key (connection_id, digest)
  );
  create index integration_inbound_received on integration_inbound (received_at);
  create index integration_inbound_organization on integration_inbound (organization_id);

  call heron_guard_rows('meetings');
  call heron_guard_rows('integration_inbound');

  -- How far outreach to a contact has come: to a meeting, as long as one is not called off.
  create function heron_note_meeting() returns trigger language plpgsql as $$
  declare ids uuid[];
  begin
    if tg_op = 'INSERT' then
      select array_agg(distinct contact_id) into ids from added where contact_id is not null;
    elsif tg_op = 'DELETE' then
      select array_agg(distinct contact_id) into ids from removed where contact_id is not null;
    else
      select array_agg(distinct v.id) into ids from removed r join added a using (id) cross join lateral (values (r.contact_id), (a.contact_id)) v(id)
      where v.id is not null and (r.contact_id, r.status) is distinct from (a.contact_id, a.status);
    end if;
    if ids is not null then
      perform from contact_outreach where contact_id = any(ids) order by contact_id for update;
      update contact_outreach o set meeting_at =
        (select min(m.created_at) from meetings m where m.contact_id = o.contact_id and m.status <> 'canceled')
      where o.contact_id = any(ids);
    end if;
    return null;
  end $$;
  create trigger meetings_added after insert on meetings referencing new table as added for each statement execute function heron_note_meeting();
  create trigger meetings_changed after update on meetings referencing old table as removed new table as added for each statement execute function heron_note_meeting();
  create trigger meetings_removed after delete on meetings referencing old table as removed for each statement execute function heron_note_meeting();
`;
