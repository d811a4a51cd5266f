import type { Knex } from 'knex';
import type { MigrationImpact } from '../migration-impact.ts';

export const impact: MigrationImpact = {
  locks: { organizations: 'ShareRowExclusiveLock' },
  secondsAtMillionRows: 0,
};

/** Money for managed mailboxes: payments of orders and of renewals, what the payment provider told of them, and the renewals of domains. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table payments (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      -- No foreign key: what was paid and refunded stays in the books when its subject is gone.
      subject text not null check (subject in ('order', 'renewal')),
      subject_id uuid not null,
      state text not null default 'open'
        check (state in ('open', 'paid', 'expired', 'failed', 'refund_due', 'refunded', 'needs_person')),
      amount_cents integer not null check (amount_cents >= 0),
      currency text not null,
      line_items jsonb not null,
      -- Where the checkout leads back to; null: to the dashboard.
      return_url text,
      provider_session_id text unique,
      checkout_url text,
      provider_customer_id text,
      provider_payment_id text unique,
      provider_invoice_id text,
      provider_subscription_id text unique,
      -- What really came in, which may differ from what was asked for.
      received_cents integer,
      received_currency text,
      paid_at timestamptz,
      refund_reason text,
      refund_due_at timestamptz,
      -- A refund that is not done by then needs a person.
      refund_until timestamptz,
      refund_attempts integer not null default 0,
      -- Rises when a person has a refused refund tried again, so that the provider does not repeat its refusal.
      refund_round integer not null default 1,
      provider_refund_id text unique,
      refunded_at timestamptz,
      error jsonb,
      blocked_reason text,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    -- One payment of a subject at a time: another can be opened when the last one came to nothing.
    create unique index payments_subject on payments (subject, subject_id) where state in ('open', 'paid');
    create index payments_of_subject on payments (subject, subject_id, id desc);
    create index payments_refund_due on payments (id) where state = 'refund_due';
    create index payments_organization on payments (organization_id, id desc);
    call heron_guard_rows('payments');

    -- The provider sends an event again until it is answered: what has a row here is done.
    create table payment_events (
      provider_event_id text primary key,
      organization_id uuid not null references organizations on delete cascade,
      payment_id uuid not null references payments on delete cascade,
      type text not null,
      outcome text not null,
      -- By the clock of the provider.
      occurred_at timestamptz not null,
      created_at timestamptz not null
    );
    create index payment_events_payment on payment_events (payment_id, created_at);
    create index payment_events_organization on payment_events (organization_id);
    call heron_guard_rows('payment_events');

    -- One row for each cycle of a managed domain: the registration that ends, and its renewal.
    create table domain_renewals (
      id uuid primary key,
      organization_id uuid not null references organizations on delete cascade,
      domain_id uuid not null,
      state text not null default 'scheduled'
        check (state in ('scheduled', 'charging', 'renewing', 'renewed', 'requires_action', 'ended')),
      expires_at timestamptz not null,
      renew_at timestamptz not null,
      cost_cents integer,
      processing_cents integer,
      amount_cents integer,
      currency text,
      payment_id uuid references payments on delete set null,
      renewed_at timestamptz,
      error jsonb,
      blocked_reason text,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique (domain_id, expires_at)
    );
    create index domain_renewals_open on domain_renewals (id)
      where state in ('scheduled', 'charging', 'renewing', 'requires_action');
    create index domain_renewals_payment on domain_renewals (payment_id);
    create index domain_renewals_organization on domain_renewals (organization_id, renew_at, id);
    call heron_guard_rows('domain_renewals');
  `);
}
