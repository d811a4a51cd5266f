import type { Knex } from 'knex';

/** Accounts, organizations, credentials, and the plumbing tables every area writes to. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create extension if not exists pg_trgm;

    create table users (
      id uuid primary key,
      email text not null unique check (email = lower(email)),
      password_hash text not null,
      first_name text not null default '',
      last_name text not null default '',
      is_platform_admin boolean not null default false,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );

    create table organizations (
      id uuid primary key,
      name text not null,
      plan text not null default 'free' check (plan in ('free', 'paid')),
      created_by uuid references users on delete set null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );

    create table roles (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      name text not null,
      permissions text[] not null,
      is_owner boolean not null default false,
      is_system boolean not null default false,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint roles_name_key unique (organization_id, name)
    );

    create table memberships (
      organization_id uuid not null references organizations on delete cascade,
      user_id uuid not null references users on delete cascade,
      role_id uuid not null references roles,
      created_at timestamptz not null,
      primary key (organization_id, user_id)
    );
    create index memberships_user on memberships (user_id);

    create table invitations (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      email text not null,
      role_id uuid not null references roles on delete cascade,
      token_hash text not null unique,
      invited_by uuid references users on delete set null,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      accepted_at timestamptz,
      cancelled_at timestamptz
    );
    create unique index invitations_open on invitations (organization_id, email) where accepted_at is null and cancelled_at is null;
    create index invitations_list on invitations (organization_id, id desc) where accepted_at is null and cancelled_at is null;

    create table sessions (
      id uuid primary key,
      user_id uuid not null references users on delete cascade,
      organization_id uuid references organizations on delete set null,
      refresh_hash text not null unique,
      previous_refresh_hash text unique,
      device_hash text,
      ip_address text not null default '',
      user_agent text not null default '',
      created_at timestamptz not null,
      last_active_at timestamptz not null,
      expires_at timestamptz not null,
      revoked_at timestamptz
    );
    create index sessions_user on sessions (user_id);
    create index sessions_expiry on sessions (expires_at);

    -- One pending proof by mail: sign-in, sign-up, password reset. The handle is what the client holds; sign-in and
    -- sign-up also need the mailed code, a reset mails the handle itself.
    create table auth_challenges (
      id uuid primary key,
      kind text not null check (kind in ('login', 'register', 'reset')),
      handle_hash text not null unique,
      code_hash text,
      email text not null,
      user_id uuid references users on delete cascade,
      payload jsonb not null default '{}',
      attempts integer not null default 0,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      consumed_at timestamptz
    );
    create index auth_challenges_expiry on auth_challenges (expires_at);

    -- Attempts per account, address or organization in a window, shared by all processes. Keys are hashes.
    create table auth_throttles (
      key text primary key,
      attempts integer not null,
      window_ends timestamptz not null
    );
    create index auth_throttles_expiry on auth_throttles (window_ends);

    create table setup_links (
      id uuid primary key,
      token_hash text not null unique,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      used_at timestamptz
    );

    create table api_keys (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      user_id uuid references users on delete set null,
      name text not null,
      description text not null default '',
      secret_hash text not null unique,
      key_prefix text not null,
      key_suffix text not null,
      permissions bigint not null,
      allowed_ips text[] not null default '{}',
      allowed_email_accounts uuid[] not null default '{}',
      rate_limit_per_minute integer not null default 0,
      status text not null default 'active' check (status in ('active', 'revoked')),
      last_used_at timestamptz,
      last_request_ip text,
      expires_at timestamptz,
      revoked_at timestamptz,
      revoked_reason text,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index api_keys_org on api_keys (organization_id, id desc);

    create table idempotency_keys (
      organization_id uuid not null references organizations on delete cascade,
      actor_id text not null,
      key text not null,
      operation text not null,
      request_hash text not null,
      status integer,
      headers jsonb,
      body bytea,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      primary key (organization_id, actor_id, operation, key)
    );
    create index idempotency_keys_expiry on idempotency_keys (expires_at);

    create table audit_logs (
      id uuid primary key,
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
      created_at timestamptz not null
    );
    create index audit_logs_org on audit_logs (organization_id, id desc);

    -- What happened, for webhooks and the realtime gateway. Written in the transaction that made it happen.
    create table domain_events (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      type text not null,
      data jsonb not null,
      created_at timestamptz not null
    );
    create index domain_events_org on domain_events (organization_id, id desc);

    -- What must happen next in Temporal. The relay carries rows out after commit and deletes them.
    create table outbox (
      id bigint generated always as identity primary key,
      kind text not null check (kind in ('start', 'signal', 'cancel')),
      workflow_id text not null,
      payload jsonb not null,
      attempts integer not null default 0,
      available_at timestamptz not null default now(),
      last_error text,
      created_at timestamptz not null default now()
    );
    create index outbox_available on outbox (available_at, id);

    -- Bytes too large for a row and too short-lived for a store: uploaded files while a job reads them.
    create table blobs (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      size bigint not null,
      created_at timestamptz not null
    );
    create table blob_chunks (
      blob_id uuid not null references blobs on delete cascade,
      seq integer not null,
      bytes bytea not null,
      primary key (blob_id, seq)
    );

    -- Background work that gave up; replay starts it again (contract 2, dead-letter record).
    create table dead_letters (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      task_id uuid not null,
      task_type text not null,
      payload jsonb not null default '{}',
      last_error text not null default '',
      attempts integer not null default 0,
      max_attempts integer not null default 0,
      status text not null default 'pending' check (status in ('pending', 'replayed')),
      next_retry_at timestamptz,
      replayed_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index dead_letters_org on dead_letters (organization_id, id desc);
    create unique index dead_letters_pending on dead_letters (task_type, task_id) where status = 'pending';
  `);
}
