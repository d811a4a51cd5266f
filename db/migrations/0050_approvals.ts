import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: {
    api_keys: 'ShareRowExclusiveLock',
    oauth_grants: 'ShareRowExclusiveLock',
    organizations: 'ShareRowExclusiveLock',
    users: 'ShareRowExclusiveLock',
  },
  secondsAtMillionRows: 0,
};

/** What credentials may do without a person, what they have done of it today, and what waits for a person. Only new tables. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table agent_policies (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      api_key_id uuid references api_keys on delete cascade,
      oauth_grant_id uuid references oauth_grants on delete cascade,
      name text not null,
      enabled boolean not null,
      capabilities text[] not null,
      mailbox_ids uuid[] not null,
      max_recipients_per_run integer not null,
      max_recipients_per_day integer not null,
      max_actions_per_day integer not null,
      max_monthly_mailbox_spend_cents integer,
      expires_at timestamptz not null,
      created_by uuid references users on delete set null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      check (num_nonnulls(api_key_id, oauth_grant_id) = 1)
    );
    create unique index agent_policies_api_key_key on agent_policies (api_key_id) where api_key_id is not null;
    create unique index agent_policies_oauth_grant_key on agent_policies (oauth_grant_id) where oauth_grant_id is not null;
    create index agent_policies_org on agent_policies (organization_id, id desc);
    call heron_guard_rows('agent_policies');

    -- By credential and not by policy: a policy that is deleted and made again does not start its day anew.
    create table agent_policy_usage (
      organization_id uuid not null references organizations on delete cascade,
      credential_id uuid not null,
      day date not null,
      actions integer not null,
      recipients integer not null,
      primary key (credential_id, day)
    );
    create index agent_policy_usage_day on agent_policy_usage (day);
    call heron_guard_rows('agent_policy_usage');

    create table approvals (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      action_type text not null check (action_type in ('campaign.launch', 'email.compose', 'inbox.reply', 'mailbox.provision')),
      subject_type text not null check (subject_type in ('run', 'campaign', 'direct_send', 'mailbox_order')),
      subject_id uuid not null,
      -- The credential that asked. No references: the record outlives the key.
      api_key_id uuid,
      oauth_grant_id uuid,
      requester_name text not null,
      status text not null default 'pending' check (status in ('pending', 'approved', 'denied', 'expired', 'executed')),
      reasons jsonb not null,
      payload jsonb not null,
      payload_hash text not null,
      preflight jsonb,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      decided_by uuid references users on delete set null,
      decided_at timestamptz,
      reason text,
      executed_at timestamptz,
      check (num_nonnulls(api_key_id, oauth_grant_id) = 1)
    );
    create index approvals_org on approvals (organization_id, id desc);
    create index approvals_subject on approvals (subject_id, id desc);
    -- A subject waits for one decision at a time.
    create unique index approvals_pending on approvals (subject_type, subject_id) where status = 'pending';
    create index approvals_due on approvals (expires_at) where status = 'pending';
    call heron_guard_rows('approvals');
  `);
}
