import Stripe from 'stripe';
import { priceOrder, storeQuote } from '../../domain/billing/mailbox-orders/quote.ts';
import { orderMailboxes } from '../../domain/billing/mailbox-orders/order.ts';
import { freshDomain } from '../harness/mailbox-orders.ts';
import type { Ground, Make } from './ground.ts';

/**
 * Bodies and parameters with which operations on mailbox orders succeed, including a payment event signed like
 * Stripe's.
 */
export const REACHING_ORDERS: Record<string, Make> = {
  'mailboxOrders.getQuote': () => ({ body: quoteBody() }),
  'mailboxOrders.create': async (ground) => ({ body: { quote_id: (await createQuote(ground)).id } }),
  'payments.receiveStripeEvent': async (ground) => {
    const ordered = await orderMailboxes(ctxOf(ground), (await createQuote(ground)).id);
    if (!('order' in ordered)) throw new Error('the order waits for a person');
    const { order } = ordered;
    const now = ground.world.deps.clock.now().getTime();
    const body = {
      id: `evt_${order.id}`,
      object: 'event',
      created: Math.floor(now / 1000),
      type: 'checkout.session.completed',
      data: {
        object: {
          id: 'cs_1',
          client_reference_id: order.payment_id,
          payment_status: 'paid',
          amount_total: order.total_due_today_cents,
          currency: order.currency,
        },
      },
    };
    const signature = Stripe.webhooks.generateTestHeaderString({
      payload: JSON.stringify(body),
      secret: ground.world.deps.config.STRIPE_WEBHOOK_SECRET!,
    });
    return { body, headers: { 'stripe-signature': signature } };
  },
};

function quoteBody() {
  return { provider: 'google', count: 2, domain: freshDomain(), names: [{ first_name: 'Ana', last_name: 'Bo' }] };
}

async function createQuote(ground: Ground) {
  const ctx = ctxOf(ground);
  const body = quoteBody();
  return storeQuote(ctx, body, await priceOrder(ctx, body));
}

function ctxOf({ world, tenant }: Ground) {
  return world.system(tenant.organizationId);
}
