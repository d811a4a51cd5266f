import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { mailboxes: 'ShareRowExclusiveLock', organizations: 'ShareRowExclusiveLock' },
  secondsAtMillionRows: 0.1,
  rowsDoNotMatter: true,
};

/** Orders of managed mailboxes: quotes, orders with their steps at the provider, the mailboxes and domains that come of them. Only new tables. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table mailbox_quotes (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      -- The id of the order that it may become: an approval is about this order before it exists.
      order_id uuid not null unique,
      provider text not null,
      count integer not null,
      domains jsonb not null,
      mailboxes jsonb not null,
      warmup boolean not null,
      names jsonb not null,
      currency text not null,
      mailbox_monthly_cents integer not null,
      warmup_monthly_cents integer not null,
      domain_cents integer not null,
      total_monthly_cents integer not null,
      total_due_today_cents integer not null,
      line_items jsonb not null,
      created_at timestamptz not null,
      expires_at timestamptz not null,
      consumed_at timestamptz
    );
    create index mailbox_quotes_organization on mailbox_quotes (organization_id, id desc);
    create index mailbox_quotes_expired on mailbox_quotes (expires_at) where consumed_at is null;
    call heron_guard_rows('mailbox_quotes');

    create table mailbox_orders (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      -- One order for each quote. No reference: the record outlives the quote.
      quote_id uuid not null unique,
      state text not null check (state in ('awaiting_payment', 'paid', 'queued', 'provisioning', 'configuring', 'ready', 'failed', 'cancelled')),
      provider text not null,
      count integer not null,
      domains jsonb not null,
      warmup boolean not null,
      currency text not null,
      total_monthly_cents integer not null,
      total_due_today_cents integer not null,
      line_items jsonb not null,
      payment_id uuid,
      pay_by timestamptz not null,
      error jsonb,
      -- Its workflow has something to do: it goes on, or what it has made is undone.
      under_way boolean not null default true,
      blocked_reason text,
      actor_kind text not null check (actor_kind in ('session', 'api_key', 'oauth', 'system')),
      user_id uuid,
      api_key_id uuid,
      oauth_grant_id uuid,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      paid_at timestamptz,
      ready_at timestamptz,
      failed_at timestamptz,
      cancelled_at timestamptz
    );
    create index mailbox_orders_organization on mailbox_orders (organization_id, id desc);
    create index mailbox_orders_state on mailbox_orders (organization_id, state, id desc);
    create index mailbox_orders_under_way on mailbox_orders (id) where under_way;
    create index mailbox_orders_payment on mailbox_orders (payment_id);
    call heron_guard_rows('mailbox_orders');

    create table order_steps (
      order_id uuid not null references mailbox_orders on delete cascade,
      step text not null,
      organization_id uuid not null references organizations on delete cascade,
      seq integer not null,
      state text not null default 'pending'
        check (state in ('pending', 'running', 'done', 'compensating', 'compensated', 'failed', 'needs_person')),
      provider_ref text,
      detail text,
      attempts integer not null default 0,
      started_at timestamptz,
      completed_at timestamptz,
      undo_started_at timestamptz,
      undone_at timestamptz,
      primary key (order_id, step),
      unique (order_id, seq)
    );
    create index order_steps_organization on order_steps (organization_id);
    create index order_steps_needs_person on order_steps (order_id) where state = 'needs_person';
    call heron_guard_rows('order_steps');

    create table order_mailboxes (
      order_id uuid not null references mailbox_orders on delete cascade,
      position integer not null,
      organization_id uuid not null references organizations on delete cascade,
      email text not null,
      domain text not null,
      first_name text not null,
      last_name text not null,
      external_status text,
      warmup_external_status text,
      -- The mailbox that Heron sends from, once the order is ready.
      mailbox_id uuid references mailboxes on delete set null,
      smtp jsonb,
      imap jsonb,
      credentials bytea,
      retired_at timestamptz,
      primary key (order_id, position)
    );
    create unique index order_mailboxes_email_key on order_mailboxes (email) where retired_at is null;
    create index order_mailboxes_organization on order_mailboxes (organization_id);
    create index order_mailboxes_mailbox on order_mailboxes (mailbox_id) where mailbox_id is not null;
    call heron_guard_rows('order_mailboxes');

    create table managed_domains (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      domain text not null,
      order_id uuid not null references mailbox_orders on delete cascade,
      provider_ref text not null,
      state text not null check (state in ('active', 'released', 'lapsed')),
      registered_at timestamptz not null,
      expires_at timestamptz not null,
      released_at timestamptz
    );
    create unique index managed_domains_domain_key on managed_domains (domain) where state = 'active';
    create index managed_domains_organization on managed_domains (organization_id, id desc);
    create index managed_domains_order on managed_domains (order_id);
    create index managed_domains_expiry on managed_domains (expires_at) where state = 'active';
    call heron_guard_rows('managed_domains');
  `);
}
