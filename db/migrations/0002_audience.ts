import type { Knex } from 'knex';

/** Contacts and everything that files, imports or suppresses them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table contacts (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      email text not null check (email = lower(email)),
      first_name text not null default '',
      last_name text not null default '',
      company text not null default '',
      phone text not null default '',
      custom_fields jsonb not null default '{}',
      subscribed boolean not null default true,
      source text not null default 'api',
      source_detail text not null default '',
      verification_status text not null default 'unknown' check (verification_status in ('valid', 'risky', 'invalid', 'unknown')),
      verification_reason text not null default '',
      is_catch_all boolean not null default false,
      verification_checked_at timestamptz,
      esp_provider text not null default '',
      esp_resolved_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint contacts_email_key unique (organization_id, email)
    );
    create index contacts_org on contacts (organization_id, id desc);
    create index contacts_org_created on contacts (organization_id, created_at desc, id desc);
    create index contacts_org_updated on contacts (organization_id, updated_at desc, id desc);
    create index contacts_search on contacts using gin ((email || ' ' || first_name || ' ' || last_name || ' ' || company) gin_trgm_ops);

    -- Folders file campaigns, tags file mailboxes, categories file contacts and conversations.
    create table labels (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      registry text not null check (registry in ('folder', 'tag', 'category')),
      title text not null,
      color text not null,
      position integer not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index labels_org on labels (organization_id, registry, position);

    create table contact_categories (
      organization_id uuid not null references organizations on delete cascade,
      contact_id uuid not null references contacts on delete cascade,
      label_id uuid not null references labels on delete cascade,
      primary key (contact_id, label_id)
    );
    create index contact_categories_label on contact_categories (label_id, contact_id);

    create table contact_imports (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      user_id uuid,
      status text not null check (status in ('queued', 'running', 'completed', 'failed', 'cancelled')),
      filename text not null,
      options jsonb not null default '{}',
      blob_id uuid,
      total_bytes bigint not null default 0,
      read_bytes bigint not null default 0,
      total integer not null default 0,
      imported integer not null default 0,
      updated integer not null default 0,
      skipped integer not null default 0,
      failed integer not null default 0,
      -- Rows already applied; a restarted job goes on behind them.
      checkpoint bigint not null default 0,
      error text,
      created_at timestamptz not null,
      started_at timestamptz,
      ended_at timestamptz,
      updated_at timestamptz not null
    );
    create index contact_imports_org on contact_imports (organization_id, id desc);

    create table contact_import_problems (
      import_id uuid not null references contact_imports on delete cascade,
      organization_id uuid not null references organizations on delete cascade,
      line integer not null,
      email text not null default '',
      row_values text[] not null default '{}',
      reason text not null,
      primary key (import_id, line, reason)
    );

    create table suppressions (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      email text not null check (email = lower(email)),
      kind text not null check (kind in ('email', 'domain')),
      reason text not null default '',
      source text not null check (source in ('bounce', 'complaint', 'unsubscribe', 'manual', 'import')),
      campaign_id uuid,
      metadata jsonb not null default '{}',
      expires_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint suppressions_value_key unique (organization_id, kind, email)
    );
    create index suppressions_org on suppressions (organization_id, id desc);
    create index suppressions_search on suppressions using gin (email gin_trgm_ops);

    -- Saved audiences; conditions use the vocabulary of GET /segments/fields (contract 2, lead database).
    create table segments (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      name text not null,
      match text not null default 'all' check (match in ('all', 'any')),
      conditions jsonb not null default '[]',
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index segments_org on segments (organization_id, id desc);
  `);
}
