import { setTimeout as sleep } from 'node:timers/promises';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { advanceMailboxOrder } from '../../domain/billing/mailbox-orders/advance.ts';
import { closeOrderCheckout, openOrderCheckout } from '../../domain/billing/mailbox-orders/checkout.ts';
import { performOrderStep } from '../../domain/billing/mailbox-orders/perform.ts';
import { undoOrderStep } from '../../domain/billing/mailbox-orders/undo.ts';
import { createCheckout } from '../../domain/billing/payments/checkout.ts';
import { newId } from '../../lib/ids.ts';
import { startProvisioning, type ProvisioningSandbox } from '../../local/provisioning.ts';
import type { OrderDecision } from '../../workflows/mailbox-order/contract.ts';
import type { Tenant } from './factories.ts';
import { createPaymentWorld } from './payments.ts';
import type { StripeDouble } from './stripe.ts';
import { call, type Answer, type World, type WorldOptions } from './world.ts';

/** World that sells managed mailboxes: a provider sandbox creates them, and a stub of Stripe takes the payments. */
export interface OrderWorld {
  world: World;
  sandbox: ProvisioningSandbox;
  stripe: StripeDouble;
  close(): Promise<void>;
}

/** Creates a world with a provider sandbox and a stub of Stripe. */
export async function createOrderWorld(options: WorldOptions = {}): Promise<OrderWorld> {
  const { clock } = options;
  const sandbox = await startProvisioning(clock ? { now: () => clock.now() } : {});
  const { world, stripe, close } = await createPaymentWorld({ ...options, env: { ...sandbox.env, ...options.env } });
  return {
    world,
    sandbox,
    stripe,
    async close() {
      await close();
      await sandbox.close();
    },
  };
}

/** Returns an unused domain. */
export function freshDomain(): string {
  return `heron-${newId().slice(-12)}.com`;
}

/** Functions that act on the orders of one tenant. */
export interface OrderDesk {
  tenant: Tenant;
  ctx: Ctx;
  /** Calls the API with the given credential; by default as the signed-in person. */
  call(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  quote(body?: Record<string, unknown>, token?: string): Promise<Answer>;
  order(quoteId: string, token?: string): Promise<Answer>;
  /** Gets a quote for two mailboxes with warmup on a new domain, and orders them. Returns the order's id. */
  place(body?: Record<string, unknown>): Promise<string>;
  /** Pays on the order's payment page; resolves after the webhook was handled. */
  pay(orderId: string): Promise<void>;
  row(orderId: string): Promise<Record<string, any>>;
  steps(orderId: string): Promise<string[]>;
  payment(orderId: string): Promise<string>;
  events(orderId: string): Promise<string[]>;
  /** Executes the order's workflow until it waits or is done. */
  drive(orderId: string, onTurn?: (decision: OrderDecision) => Promise<void> | void): Promise<OrderDecision>;
}

/** Creates a workspace for orders, unless one is given. */
export async function openOrderDesk(
  { world, stripe }: Pick<OrderWorld, 'world' | 'stripe'>,
  of?: Tenant,
): Promise<OrderDesk> {
  const tenant = of ?? (await world.tenant());
  const { db } = world.deps;
  const ctx = world.system(tenant.organizationId);
  const ask: OrderDesk['call'] = (method, path, body, token = tenant.sessionToken) =>
    call(world, method, `/v1${path}`, {
      token,
      ...(body === undefined ? {} : { body }),
      headers: path === '/mailboxes/provision' ? { 'idempotency-key': newId() } : {},
    });
  const desk: OrderDesk = {
    tenant,
    ctx,
    call: ask,
    quote: (body = {}, token) =>
      ask(
        'POST',
        '/mailboxes/provision/quote',
        { provider: 'google', count: 2, domain: freshDomain(), ...body },
        token,
      ),
    order: (quoteId, token) => ask('POST', '/mailboxes/provision', { quote_id: quoteId }, token),
    async place(body = { warmup: true }) {
      const quote = await desk.quote(body);
      if (quote.status !== 200) throw new Error(quote.text);
      const ordered = await desk.order(quote.body.quote_id);
      if (ordered.status !== 202) throw new Error(ordered.text);
      return ordered.body.provisioning_id as string;
    },
    async pay(orderId) {
      const { payment_id: paymentId } = await desk.row(orderId);
      await createCheckout(ctx, paymentId);
      await stripe.pay(stripe.sessionOf(paymentId)!.id);
    },
    row: (orderId) => db('mailbox_orders').where({ id: orderId }).first(),
    steps: async (orderId) =>
      (await db('order_steps').where({ order_id: orderId }).orderBy('seq')).map(
        ({ step, state }: { step: string; state: string }) => `${step.split(':')[0]} ${state}`,
      ),
    payment: async (orderId) => (await db('payments').where({ subject_id: orderId }).first()).state,
    events: async (orderId) =>
      (await db('domain_events').whereRaw(`data ->> 'provisioning_id' = ?`, [orderId]).orderBy('id')).map(
        ({ type, data }: { type: string; data: { state?: string } }) => data.state ?? type,
      ),
    drive: (orderId, onTurn) => drive(ctx, orderId, onTurn),
  };
  return desk;
}

/** Runs the iterations of `workflows/mailbox-order` with waits of some milliseconds. */
async function drive(
  ctx: Ctx,
  orderId: string,
  onTurn?: (decision: OrderDecision) => Promise<void> | void,
): Promise<OrderDecision> {
  for (let turn = 0; turn < 500; turn += 1) {
    const decision = await advanceMailboxOrder(ctx, orderId);
    await onTurn?.(decision);
    switch (decision.kind) {
      case 'wait':
      case 'done':
        return decision;
      case 'checkout':
        await openOrderCheckout(ctx, orderId);
        break;
      case 'close':
        await closeOrderCheckout(ctx, orderId);
        break;
      default: {
        const verb = decision.kind === 'step' ? performOrderStep : undoOrderStep;
        for (;;) {
          const done = await verb(ctx, orderId, decision.step);
          if (done.outcome !== 'retry') break;
          await sleep(5);
        }
      }
    }
  }
  throw new Error('the order never comes to an end');
}
