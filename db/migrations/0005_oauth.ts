import type { Knex } from 'knex';

/** OAuth 2.1: applications, what people granted them, and the codes and tokens that stand for a grant. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table oauth_applications (
      id uuid primary key,
      -- Whose application it is; a client that registered itself is nobody's.
      organization_id uuid references organizations on delete cascade,
      created_by uuid references users on delete set null,
      client_id text not null unique,
      -- SHA-256 of the secret; null for public clients.
      client_secret_hash text,
      self_registered boolean not null default false,
      name text not null,
      description text not null default '',
      logo_url text not null default '',
      website_url text not null default '',
      redirect_uris text[] not null,
      scopes bigint not null,
      allowed_webhook_domains text[] not null default '{}',
      webhook_url text not null default '',
      webhook_events text[] not null default '{}',
      created_at timestamptz not null,
      updated_at timestamptz not null,
      check (self_registered = (organization_id is null))
    );
    create index oauth_applications_org on oauth_applications (organization_id, id desc);
    -- Registrations nobody ever used are swept away.
    create index oauth_applications_unowned on oauth_applications (created_at) where self_registered;

    -- What one person granted an application in one workspace. Approving again changes the row; revoking ends every token below it.
    create table oauth_grants (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      application_id uuid not null references oauth_applications on delete cascade,
      user_id uuid not null references users on delete cascade,
      scopes bigint not null,
      last_used_at timestamptz,
      last_request_ip text,
      revoked_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create unique index oauth_grants_active on oauth_grants (application_id, organization_id, user_id) where revoked_at is null;
    create index oauth_grants_application on oauth_grants (application_id);
    create index oauth_grants_org on oauth_grants (organization_id, id desc);
    create index oauth_grants_user on oauth_grants (user_id, id desc);

    create table oauth_codes (
      id uuid primary key,
      code_hash text not null unique,
      grant_id uuid not null references oauth_grants on delete cascade,
      scopes bigint not null,
      redirect_uri text not null,
      -- PKCE S256; null where a confidential client sent none.
      code_challenge text,
      resource text,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      consumed_at timestamptz
    );
    create index oauth_codes_grant on oauth_codes (grant_id);
    create index oauth_codes_expiry on oauth_codes (expires_at);

    -- A family is everything that came from one code: replaying an old refresh token, or the code, ends the family.
    create table oauth_tokens (
      id uuid primary key,
      grant_id uuid not null references oauth_grants on delete cascade,
      family_id uuid not null,
      kind text not null check (kind in ('access', 'refresh')),
      token_hash text not null unique,
      scopes bigint not null,
      resource text,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      -- A refresh token that was exchanged for the next pair.
      replaced_at timestamptz,
      revoked_at timestamptz
    );
    create index oauth_tokens_grant on oauth_tokens (grant_id);
    create index oauth_tokens_family on oauth_tokens (family_id);
    create index oauth_tokens_expiry on oauth_tokens (expires_at);

    -- Which grant acted, where it was an application's token.
    alter table audit_logs add column oauth_grant_id uuid;
  `);
}
