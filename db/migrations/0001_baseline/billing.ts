/** Tables for managed mailboxes: quotes, orders, payments and renewals. */
export const BILLING = `
create table mailbox_quotes (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
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
  expires_at timestamptz not null,
  consumed_at timestamptz,
  return_url text,
  created_at timestamptz not null
);
comment on table mailbox_quotes is 'An offer of managed mailboxes at the provider''s prices.';
comment on column mailbox_quotes.order_id is 'Id of the order that the quote may become. The approval uses it before the order exists.';
comment on column mailbox_quotes.return_url is 'URL after the checkout, as given with the order. Null: the dashboard.';
comment on column mailbox_quotes.names is 'Names of the mailboxes'' users, as given in the request.';
comment on column mailbox_quotes.mailbox_monthly_cents is 'Monthly price (cents) of all its mailboxes.';
comment on column mailbox_quotes.warmup_monthly_cents is 'Monthly price (cents) of warmup for all its mailboxes. 0 without warmup.';
comment on column mailbox_quotes.domain_cents is 'Price (cents) of one year of registration of its new domains.';
comment on column mailbox_quotes.total_monthly_cents is 'Monthly total (cents).';
comment on column mailbox_quotes.total_due_today_cents is 'Total due today (cents).';
create index mailbox_quotes_organization on mailbox_quotes (organization_id, id desc);
create index mailbox_quotes_expired on mailbox_quotes (expires_at) where consumed_at is null;
call heron_guard_rows('mailbox_quotes');

create table mailbox_orders (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
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
  under_way boolean not null default true,
  blocked_reason jsonb,
  actor_kind text not null check (actor_kind in ('session', 'api_key', 'oauth', 'system')),
  user_id uuid,
  api_key_id uuid,
  oauth_grant_id uuid,
  paid_at timestamptz,
  ready_at timestamptz,
  failed_at timestamptz,
  cancelled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table mailbox_orders is 'An order of managed mailboxes.';
comment on column mailbox_orders.quote_id is 'The quote that was ordered; at most one order per quote. No foreign key, because the order outlives the quote.';
comment on column mailbox_orders.total_monthly_cents is 'Monthly total (cents).';
comment on column mailbox_orders.total_due_today_cents is 'Total due today (cents).';
comment on column mailbox_orders.pay_by is 'Time until which the order waits for its payment.';
comment on column mailbox_orders.under_way is 'True while its workflow still has something to do or undo.';
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
  state text not null default 'pending' check (state in ('pending', 'running', 'done', 'compensating', 'compensated', 'failed', 'needs_person')),
  provider_ref text,
  detail text,
  attempts integer not null default 0,
  started_at timestamptz,
  completed_at timestamptz,
  undo_started_at timestamptz,
  undone_at timestamptz,
  call_until timestamptz,
  primary key (order_id, step),
  unique (order_id, seq)
);
comment on table order_steps is 'A step of an order at the provider.';
comment on column order_steps.step is 'Key of the step by position in the order: "domain:0", "mailbox:3", "dns:0", "warmup:3".';
comment on column order_steps.attempts is 'Calls to the provider, including calls that undo the step.';
comment on column order_steps.call_until is 'End of the claim of the call under way, by PostgreSQL''s clock. Null when none is.';
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
  mailbox_id uuid references mailboxes on delete set null,
  smtp jsonb,
  imap jsonb,
  credentials bytea,
  retired_at timestamptz,
  primary key (order_id, position)
);
comment on table order_mailboxes is 'A mailbox of an order.';
comment on column order_mailboxes.mailbox_id is 'The connected mailbox, once the order is ready.';
comment on column order_mailboxes.credentials is 'SMTP and IMAP password, sealed under "order_mailboxes/<order>/<position>". Null once the mailbox is connected.';
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
comment on table managed_domains is 'A domain registered by an order.';
create unique index managed_domains_domain_key on managed_domains (domain) where state = 'active';
create index managed_domains_organization on managed_domains (organization_id, id desc);
create index managed_domains_order on managed_domains (order_id);
create index managed_domains_expiry on managed_domains (expires_at) where state = 'active';
call heron_guard_rows('managed_domains');

create table payments (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  subject text not null check (subject in ('order', 'renewal', 'order_month')),
  subject_id uuid not null,
  state text not null default 'open' check (state in ('open', 'paid', 'expired', 'failed', 'refund_due', 'refunded', 'needs_person')),
  amount_cents integer not null check (amount_cents >= 0),
  currency text not null,
  line_items jsonb not null,
  return_url text,
  provider_session_id text unique,
  checkout_url text,
  provider_customer_id text,
  provider_payment_id text unique,
  provider_invoice_id text,
  provider_subscription_id text unique,
  received_cents integer,
  received_currency text,
  paid_at timestamptz,
  refund_reason text,
  refund_due_at timestamptz,
  refund_until timestamptz,
  refund_attempts integer not null default 0,
  refund_round integer not null default 1,
  provider_refund_id text unique,
  refunded_at timestamptz,
  error jsonb,
  blocked_reason jsonb,
  period_end timestamptz,
  subscription_ended_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
comment on table payments is 'A payment of an order or renewal, with its refund. Kept when the order or renewal is deleted.';
comment on column payments.amount_cents is 'Amount due now (cents), the sum of its lines.';
comment on column payments.currency is 'ISO 4217 code, lower-case.';
comment on column payments.return_url is 'URL after the checkout. Null: the dashboard.';
comment on column payments.received_cents is 'Amount received (cents), which may differ from the amount due.';
comment on column payments.refund_until is 'Time after which an unfinished refund needs a person.';
comment on column payments.refund_round is 'Increases when a refused refund is tried again, so that the provider does not repeat its refusal.';
comment on column payments.error is 'Reason why the payment failed or needs a person.';
comment on column payments.period_end is 'End of the paid service. Null: a month after the payment, or the end of the renewed registration.';
comment on column payments.subscription_ended_at is 'End of the subscription that began with this payment.';
create index payments_of_subject on payments (subject, subject_id, id desc);
create index payments_refund_due on payments (id) where state = 'refund_due';
create index payments_organization on payments (organization_id, id desc);
-- At most one open or paid payment per subject. A new one is possible after a failed one.
create unique index payments_subject on payments (subject, subject_id) where state in ('open', 'paid') and subject <> 'order_month';
-- One payment per monthly invoice, however often the provider reports it.
create unique index payments_month on payments (provider_invoice_id) where subject = 'order_month';
call heron_guard_rows('payments');

create table payment_events (
  provider_event_id text primary key,
  organization_id uuid not null references organizations on delete cascade,
  payment_id uuid not null references payments on delete cascade,
  type text not null,
  outcome text not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null
);
comment on table payment_events is 'A webhook event of the payment provider that was applied.';
comment on column payment_events.outcome is 'Effect of the event as a code. "ignored": the event came too late.';
comment on column payment_events.occurred_at is 'Time by the provider''s clock.';
create index payment_events_payment on payment_events (payment_id, created_at);
create index payment_events_organization on payment_events (organization_id);
call heron_guard_rows('payment_events');

create table domain_renewals (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  domain_id uuid not null,
  state text not null default 'scheduled' check (state in ('scheduled', 'charging', 'renewing', 'renewed', 'requires_action', 'ended')),
  expires_at timestamptz not null,
  renew_at timestamptz not null,
  cost_cents integer,
  processing_cents integer,
  amount_cents integer,
  currency text,
  payment_id uuid references payments on delete set null,
  renewed_at timestamptz,
  error jsonb,
  blocked_reason jsonb,
  call_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (domain_id, expires_at)
);
comment on table domain_renewals is 'A renewal of a managed domain, one row per cycle.';
comment on column domain_renewals.cost_cents is 'The provider''s price (cents) when the cycle was charged.';
comment on column domain_renewals.processing_cents is 'Payment processing fee (cents) added to the price.';
comment on column domain_renewals.amount_cents is 'Total charged (cents).';
comment on column domain_renewals.error is 'Reason why a person is needed.';
comment on column domain_renewals.call_until is 'End of the claim of the calls under way, by PostgreSQL''s clock. Null when none is.';
create index domain_renewals_open on domain_renewals (id)
  where state in ('scheduled', 'charging', 'renewing', 'requires_action');
create index domain_renewals_payment on domain_renewals (payment_id);
create index domain_renewals_organization on domain_renewals (organization_id, renew_at, id);
call heron_guard_rows('domain_renewals');
`;
