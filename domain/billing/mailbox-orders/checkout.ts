import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { createCheckout, expireCheckout } from '../payments/checkout.ts';
import { cancelSubscription } from '../payments/refund.ts';
import { refusalOf } from '../payments/stripe.ts';
import { recordOrderPaymentFailed } from './paid.ts';
import { hasEnded, type OrderState } from './states.ts';

/**
 * Creates the page on which an order is paid. Retries use the same idempotency key until the payment provider responds.
 * If it refuses permanently, the order fails.
 */
export async function openOrderCheckout(ctx: Ctx, orderId: string): Promise<void> {
  const { payment_id: paymentId } = await readPaid(ctx, orderId);
  try {
    await createCheckout(ctx, paymentId);
  } catch (error) {
    if (!refusalOf(error)) throw error;
    await transact(ctx, (tx) => recordOrderPaymentFailed(tx, orderId, 'payment_failed'));
  }
}

/**
 * Closes the checkout page of an order, so that no further payment is possible. An order that was not paid in time then
 * fails. A payment made just before is handled when its webhook arrives: it is accepted, or refunded if the order has
 * ended. Also ends the subscription of an ended order, so that no further month is charged.
 * @returns false while the payment provider has not yet reported a payment that was made
 */
export async function closeOrderCheckout(ctx: Ctx, orderId: string): Promise<boolean> {
  const order = await readPaid(ctx, orderId);
  const state = await expireCheckout(ctx, order.payment_id);
  if (state === 'open') return false;
  if (state === 'expired' || state === 'failed')
    await transact(ctx, (tx) =>
      recordOrderPaymentFailed(tx, orderId, state === 'expired' ? 'payment_expired' : 'payment_failed'),
    );
  if ((state === 'paid' || state === 'refunded') && hasEnded(order.state))
    await cancelSubscription(ctx, order.payment_id);
  return true;
}

async function readPaid(ctx: Ctx, orderId: string): Promise<{ payment_id: string; state: OrderState }> {
  const order = await reader(ctx).table('mailbox_orders').where({ id: orderId }).first('payment_id', 'state');
  if (!order?.payment_id) throw new Error('the order has no payment');
  return { payment_id: order.payment_id, state: order.state };
}
