import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { mailboxes: 'ShareRowExclusiveLock', organizations: 'ShareRowExclusiveLock' },
  secondsAtMillionRows: 0,
};

/** Mailboxes that are connected by consent at their provider: the consents under way, and the tokens that came of them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table mailbox_consents (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      provider text not null check (provider in ('gmail', 'outlook')),
      status text not null default 'pending' check (status in ('pending', 'exchanging', 'confirming', 'connecting', 'done', 'failed')),
      -- Both secrets are known to their holders alone: who polls, and the provider's redirect.
      session_hash text not null unique,
      state_hash text not null unique,
      sealed bytea,
      actor jsonb not null,
      email text not null default '',
      mailbox_id uuid references mailboxes on delete set null,
      error_code text,
      error_message text,
      created_at timestamptz not null,
      expires_at timestamptz not null
    );
    create index mailbox_consents_organization on mailbox_consents (organization_id, expires_at);
    create index mailbox_consents_mailbox on mailbox_consents (mailbox_id) where mailbox_id is not null;

    create table mailbox_tokens (
      mailbox_id uuid primary key references mailboxes on delete cascade,
      organization_id uuid not null references organizations on delete cascade,
      sealed bytea not null,
      access_expires_at timestamptz not null,
      refreshed_at timestamptz not null,
      -- One process at a time asks the provider for a new access token, for as long as its lease lasts.
      lease_token uuid,
      lease_until timestamptz,
      failures integer not null default 0,
      retry_at timestamptz,
      send_as jsonb not null default '[]',
      send_as_synced_at timestamptz
    );
    create index mailbox_tokens_organization on mailbox_tokens (organization_id);
    create index mailbox_tokens_expiry on mailbox_tokens (access_expires_at);
    call heron_guard_rows('mailbox_consents');
    call heron_guard_rows('mailbox_tokens');
  `);
}
