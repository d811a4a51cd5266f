import { z } from 'zod';
import { MAX_DOMAINS } from '../../../domain/billing/mailbox-orders/quote.ts';
import { ORDER_STATES } from '../../../domain/billing/mailbox-orders/states.ts';
import { paged, resource, runFields, timestamp, uuid } from '../../http/schemas.ts';
import { issue } from '../../http/stored-message.ts';

const cents = z.int().min(0);
const name = z.string().trim().max(100);
const personName = z.strictObject({ first_name: name.default(''), last_name: name.default('') });

export const quoteRequest = z.strictObject({
  provider: z
    .string()
    .max(40)
    .meta({ description: 'google or microsoft, as listed by GET /v1/mailboxes/provision/providers' }),
  count: z.int().max(10_000).meta({ description: 'Mailboxes, at least one, spread evenly over the domains' }),
  domain: z.string().max(300).optional().meta({ description: 'Domain, if there is one' }),
  domains: z
    .array(z.string().max(300))
    .max(1_000)
    .optional()
    .meta({ description: `Domains, if there are several: at most ${MAX_DOMAINS}, and no more than mailboxes` }),
  warmup: z.boolean().optional().meta({ description: 'Starts warmup of the mailboxes on the day they are ready' }),
  names: z
    .array(personName)
    .max(1_000)
    .optional()
    .meta({ description: 'Names of the mailbox owners, assigned in turn. Addresses are derived from them' }),
});

export const orderRequest = z.strictObject({
  quote_id: z
    .string()
    .meta({ description: 'Id of the quote, from POST /v1/mailboxes/provision/quote', format: 'uuid' }),
  return_url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .optional()
    .meta({ description: 'Page after the checkout, on an origin of this installation. Default: the dashboard' }),
});

export const providers = z.strictObject({
  data: z.array(
    resource('ManagedMailboxProvider', {
      provider: z.string(),
      name: z.string(),
      currency: z.string().meta({ description: 'ISO 4217, lower case' }),
      mailbox_monthly_cents: cents.meta({ description: 'Price of one mailbox per month' }),
      warmup_monthly_cents: cents.meta({ description: "Price of one mailbox's warmup per month" }),
      max_mailboxes: z.int().meta({ description: 'Maximum number of mailboxes per order' }),
    }),
  ),
});

const lineItem = resource('OrderLineItem', {
  key: z.string(),
  label: z.string(),
  quantity: z.int(),
  unit_cents: cents,
  total_cents: cents,
  interval: z.enum(['month', 'once']),
});

const orderedDomain = resource('OrderedDomain', {
  domain: z.string(),
  domain_registration: z.boolean().meta({ description: 'False for a domain of an earlier order of the workspace' }),
  price_cents: cents.meta({ description: 'Price of the first year of registration, charged once' }),
  mailboxes: z.int(),
});

const common = {
  provider: z.string(),
  domain: z.string().meta({ description: 'The first of `domains`' }),
  domains: z.array(orderedDomain),
  domain_registration: z.boolean().meta({ description: 'True if any domain is registered with the order' }),
  warmup: z.boolean(),
  currency: z.string(),
  total_monthly_cents: cents,
  total_due_today_cents: cents.meta({ description: 'Price of the first month and the registrations' }),
  line_items: z.array(lineItem),
};

export const quote = resource('MailboxQuote', {
  quote_id: uuid,
  count: z.int(),
  ...common,
  names: z.array(personName),
  mailboxes: z.array(z.strictObject({ email: z.string() })),
  mailbox_monthly_cents: cents.meta({ description: 'Monthly price of all mailboxes' }),
  warmup_monthly_cents: cents.meta({ description: 'Monthly price of all warmups' }),
  domain_cents: cents.meta({ description: 'Price of all registrations, charged once' }),
  expires_at: timestamp,
});

export const order = resource('MailboxOrder', {
  provisioning_id: uuid,
  organization_id: uuid,
  quote_id: uuid,
  status: z.enum(ORDER_STATES),
  mailboxes_requested: z.int(),
  ...common,
  checkout_url: z
    .url()
    .optional()
    .meta({ description: 'Page where a person pays; present shortly after the order, while it is awaiting_payment' }),
  pay_by: timestamp.optional().meta({ description: 'End of the time for payment; present while awaiting_payment' }),
  stripe_subscription_id: z.string().optional(),
  payment_status: z
    .string()
    .optional()
    .meta({ description: 'open, paid, expired, failed, refund_due, refunded or needs_person' }),
  steps: z.array(
    z.strictObject({
      key: z.string(),
      done: z.boolean(),
      status: z
        .enum(['pending', 'running', 'done', 'compensating', 'compensated', 'failed', 'needs_person'])
        .meta({ description: 'needs_person: the step could not be undone at the provider' }),
      detail: z.string().optional(),
      completed_at: timestamp.optional(),
    }),
  ),
  mailboxes: z.array(
    z.strictObject({
      email: z.string(),
      email_account_id: uuid.optional().meta({ description: 'Id of the mailbox in Heron, once the order is ready' }),
      external_status: z.string().optional(),
      warmup_external_status: z.string().optional(),
    }),
  ),
  needs_person: z.boolean().meta({ description: 'True if something could not be undone or refunded without a person' }),
  error: issue.optional(),
  created_at: timestamp,
  updated_at: timestamp,
  paid_at: timestamp.optional(),
  ready_at: timestamp.optional(),
  failed_at: timestamp.optional(),
  cancelled_at: timestamp.optional(),
  ...runFields,
});

export const orderPage = paged(order);

export const approval = resource('OrderAwaitingApproval', {
  result: z.literal('awaiting_approval'),
  reasons: z.array(z.string()).meta({ description: 'Reasons why a person must decide' }),
  approval_id: uuid,
  approval_url: z.url(),
  expires_at: timestamp,
});

export const ordered = z.union([order, approval]);
