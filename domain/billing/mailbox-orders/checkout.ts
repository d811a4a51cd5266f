import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact } from '../../platform/kernel/transact.ts';
import { createCheckout, expireCheckout } from '../payments/checkout.ts';
import { cancelSubscription } from '../payments/refund.ts';
import { refusalOf } from '../payments/stripe.ts';
import { orderPaymentFailed } from './paid.ts';
import { hasEnded, type OrderState } from './states.ts';

/**
 * Makes the page on which an order is paid. The payment provider is asked again with the same key until it answers; when it refuses for good, the
 * order fails.
 */
export async function openOrderCheckout(ctx: Ctx, orderId: string): Promise<void> {
  const { payment_id: paymentId } = await readPaid(ctx, orderId);
  try {
    await createCheckout(ctx, paymentId);
  } catch (error) {
    if (!refusalOf(error)) throw error;
    await transact(ctx, (tx) => orderPaymentFailed(tx, orderId, 'payment_failed'));
  }
}

/**
 * Closes the page of an order, so that nobody pays any more. An order whose time to pay is over has failed then; where it was paid in
 * the last moment, the payment's own word decides: that it came in time, or, after the order has ended, that it goes back. The subscription of an order
 * that has ended is ended, so that no further month is charged.
 * @returns false while a payment has been made that the payment provider has yet to tell
 */
export async function closeOrderCheckout(ctx: Ctx, orderId: string): Promise<boolean> {
  const order = await readPaid(ctx, orderId);
  const state = await expireCheckout(ctx, order.payment_id);
  if (state === 'open') return false;
  if (state === 'expired' || state === 'failed')
    await transact(ctx, (tx) =>
      orderPaymentFailed(tx, orderId, state === 'expired' ? 'payment_expired' : 'payment_failed'),
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
