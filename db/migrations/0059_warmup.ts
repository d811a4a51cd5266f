import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { mailboxes: 'ShareRowExclusiveLock', organizations: 'ShareRowExclusiveLock' },
  secondsAtMillionRows: 0,
};

/** Warmup: who pairs with whom, how mailboxes stand, and the emails that they exchange. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table warmup_rules (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      name text not null,
      priority integer not null default 0,
      sender_match_type text not null check (sender_match_type in ('any', 'domain', 'tld', 'provider')),
      sender_match_value text not null default '',
      recipient_match_type text not null check (recipient_match_type in ('any', 'domain', 'tld', 'provider')),
      recipient_match_value text not null default '',
      weight double precision not null default 1 check (weight >= 0),
      enabled boolean not null default true,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index warmup_rules_organization on warmup_rules (organization_id, priority, id);

    -- Of every mailbox that was ever warmed.
    create table warmup_standings (
      mailbox_id uuid primary key references mailboxes on delete cascade,
      organization_id uuid not null references organizations on delete cascade,
      health_state text not null default 'healthy' check (health_state in ('healthy', 'watch', 'throttled', 'quarantined', 'blocked')),
      score integer not null default 100,
      reason text,
      blocked_until timestamptz,
      evaluated_at timestamptz,
      -- The last UTC day whose emails are planned.
      planned_day date,
      run_blocked text
    );
    create index warmup_standings_organization on warmup_standings (organization_id, planned_day);

    create table warmup_mails (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      mailbox_id uuid not null references mailboxes on delete cascade,
      partner_id uuid not null references mailboxes on delete cascade,
      -- The email that it replies to; one gets one reply at most.
      answers uuid unique references warmup_mails on delete cascade,
      state text not null default 'reserved' check (state in ('reserved', 'sending', 'sent', 'uncertain', 'failed')),
      slot_at timestamptz not null,
      slot_day date not null,
      attempts integer not null default 0,
      claim_token uuid,
      claimed_at timestamptz,
      handover text check (handover in ('pending', 'begun')),
      message_id text,
      subject text not null default '',
      sent_at timestamptz,
      error text,
      landed text check (landed in ('inbox', 'spam')),
      landed_at timestamptz,
      created_at timestamptz not null
    );
    create index warmup_mails_open on warmup_mails (mailbox_id, slot_at) where state in ('reserved', 'sending');
    create index warmup_mails_sent on warmup_mails (mailbox_id, claimed_at) where claimed_at is not null;
    create index warmup_mails_partner on warmup_mails (partner_id);
    create index warmup_mails_message on warmup_mails (organization_id, message_id) where message_id is not null;
    call heron_guard_rows('warmup_rules');
    call heron_guard_rows('warmup_standings');
    call heron_guard_rows('warmup_mails');
  `);
}
