import type { Ctx } from '../kernel/context.ts';
import { reader, transact } from '../kernel/transact.ts';
import { createCheckout, expireCheckout } from '../payments/checkout.ts';
import { refusalOf } from '../payments/stripe.ts';
import { orderPaymentFailed } from './paid.ts';

/**
 * Makes the page on which an order is paid. The payment provider is asked again with the same key until it answers; when it refuses for good, the
 * order fails.
 */
export async function openOrderCheckout(ctx: Ctx, orderId: string): Promise<void> {
  const paymentId = await paymentOf(ctx, orderId);
  try {
    await createCheckout(ctx, paymentId);
  } catch (error) {
    if (!refusalOf(error)) throw error;
    await transact(ctx, (tx) => orderPaymentFailed(tx, orderId, 'payment_failed'));
  }
}

/**
 * Closes the page of an order, so that nobody pays any more. An order whose time to pay is over has failed then; where it was paid in
 * the last moment, the payment's own word decides: that it came in time, or, after the order has ended, that it goes back.
 * @returns false while a payment has been made that the payment provider has yet to tell
 */
export async function closeOrderCheckout(ctx: Ctx, orderId: string): Promise<boolean> {
  const state = await expireCheckout(ctx, await paymentOf(ctx, orderId));
  if (state === 'open') return false;
  if (state === 'expired' || state === 'failed')
    await transact(ctx, (tx) =>
      orderPaymentFailed(tx, orderId, state === 'expired' ? 'payment_expired' : 'payment_failed'),
    );
  return true;
}

async function paymentOf(ctx: Ctx, orderId: string): Promise<string> {
  const order = await reader(ctx).table('mailbox_orders').where({ id: orderId }).first('payment_id');
  if (!order?.payment_id) throw new Error('the order has no payment');
  return order.payment_id;
}
