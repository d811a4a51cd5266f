import { openPayment } from '../../domain/billing/payments/open.ts';
import type { PaymentRow } from '../../domain/billing/payments/states.ts';
import { createCheckout } from '../../domain/billing/payments/checkout.ts';
import { transact } from '../../domain/platform/kernel/transact.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { startStripe, type StripeDouble } from './stripe.ts';
import type { Tenant } from './factories.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';
import { message } from '../../messages/index.ts';

/** World in which orders are paid through a stub of Stripe, which sends its webhooks to the world's API. */
export interface PaymentWorld {
  world: World;
  stripe: StripeDouble;
  close(): Promise<void>;
}

/** Creates a world with a stub of Stripe. */
export async function createPaymentWorld(options: WorldOptions = {}): Promise<PaymentWorld> {
  const { clock } = options;
  const stripe = await startStripe(clock ? { now: () => clock.now() } : {});
  const world = await createWorld({
    ...options,
    env: {
      ...stripe.env,
      ...options.env,
    },
  });
  stripe.sendTo(`${world.url}/payments/stripe/events`);
  return {
    world,
    stripe,
    async close() {
      await world.close();
      await stripe.close();
    },
  };
}

/** Functions that act on one order's payment. */
export interface PaymentDesk {
  tenant: Tenant;
  orderId: string;
  paymentId: string;
  payment(): Promise<PaymentRow>;
  orderState(): Promise<string>;
  /** Returns the results of the payment's events in the order in which they were handled. */
  outcomes(): Promise<string[]>;
  /** Returns the waiting outbox intents: workflow ids with their actions. */
  intents(): Promise<string[]>;
  /** Creates the payment page. Returns its session's id. */
  checkout(): Promise<string>;
}

/** Creates an order that waits for payment: a domain, paid once, and two mailboxes, paid monthly. */
export async function createOrderToPay({ world, stripe }: PaymentWorld): Promise<PaymentDesk> {
  const tenant = await world.tenant();
  const { organizationId } = tenant;
  const { deps } = world;
  const orderId = newId();
  const now = deps.clock.now();
  const payment = await transact(world.system(organizationId), (tx) =>
    openPayment(tx, {
      organizationId,
      subject: 'order',
      subjectId: orderId,
      amountCents: 1_900,
      currency: 'USD',
      lineItems: [
        { label: message('line.domain', { domain: 'acme.example' }), quantity: 1, unit_cents: 1_200, interval: 'once' },
        { label: message('line.mailboxes', { provider: 'google' }), quantity: 2, unit_cents: 350, interval: 'month' },
      ],
    }),
  );
  await deps
    .db('mailbox_orders')
    .insert(
      orderRow(organizationId, orderId, now, `${orderId}.test`, { state: 'awaiting_payment', payment_id: payment.id }),
    );
  return {
    tenant,
    orderId,
    paymentId: payment.id,
    payment: () => deps.db('payments').where({ id: payment.id }).first(),
    orderState: async () => (await deps.db('mailbox_orders').where({ id: orderId }).first('state')).state,
    outcomes: () => deps.db('payment_events').where({ payment_id: payment.id }).orderBy('created_at').pluck('outcome'),
    intents: async () =>
      (await deps.db('outbox').orderBy('id')).map(
        (row: { kind: string; workflow_id: string }) => `${row.kind} ${row.workflow_id}`,
      ),
    async checkout() {
      await createCheckout(world.system(organizationId), payment.id);
      return stripe.sessionOf(payment.id)!.id;
    },
  };
}

/** Creates an order with a managed domain in use, as if it had been registered long ago. It has no payments. */
export async function createManagedDomain(
  { deps }: Pick<World, 'deps'>,
  organizationId: string,
  { expiresAt, domain = `${newId()}.test` }: { expiresAt: Date; domain?: string },
): Promise<{ domainId: string; orderId: string; domain: string }> {
  const [domainId, orderId] = [newId(), newId()];
  await deps
    .db('mailbox_orders')
    .insert(orderRow(organizationId, orderId, deps.clock.now(), domain, { state: 'ready' }));
  await deps.db('managed_domains').insert({
    id: domainId,
    organization_id: organizationId,
    domain,
    order_id: orderId,
    provider_ref: `dom_${domainId}`,
    state: 'active',
    registered_at: new Date(expiresAt.getTime() - 365 * DAY_MS),
    expires_at: expiresAt,
  });
  return { domainId, orderId, domain };
}

function orderRow(organizationId: string, id: string, now: Date, domain: string, more: object) {
  return {
    id,
    organization_id: organizationId,
    quote_id: newId(),
    provider: 'google',
    count: 2,
    domains: JSON.stringify([{ domain, registration: true }]),
    warmup: false,
    currency: 'usd',
    total_monthly_cents: 700,
    total_due_today_cents: 1_900,
    line_items: '[]',
    pay_by: new Date(now.getTime() + DAY_MS),
    actor_kind: 'session',
    created_at: now,
    updated_at: now,
    ...more,
  };
}
