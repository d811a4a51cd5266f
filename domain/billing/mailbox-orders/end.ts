import type { StoredIssue } from '../../../db/json-columns.ts';
import { signal } from '../../../temporal/dispatch.ts';
import { mailboxOrderWorkflow, type MailboxOrderSignals } from '../../../workflows/mailbox-order/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { refundUndelivered } from './months.ts';
import { lockWithPayments, moveOrder } from './move.ts';
import { hasEnded, ORDER_STATES, type OrderRow, type OrderState } from './states.ts';

/**
 * Cancels an order in any state (POST /mailbox-provisioning/:id/cancel). Before the payment, nothing was purchased, and
 * the checkout is closed. After the payment, payments for undelivered mailboxes and months are refunded. The order's
 * workflow then cancels the purchases at the provider step by step, and removes the mailboxes from Heron. An order that
 * was cancelled or has failed is returned unchanged.
 * @throws AppError not_found
 */
export async function cancelOrder(ctx: Ctx, orderId: string): Promise<OrderRow> {
  return transact(ctx, async (tx) => {
    const order = await lockWithPayments(tx, orderId);
    if (hasEnded(order.state)) return order;
    const cancelled = await moveOrder(tx, orderId, ORDER_STATES, 'cancelled', { reason: 'request' });
    await refundUndelivered(tx, order, 'order_cancelled');
    signalOrder(tx, orderId, 'cancelled');
    return cancelled!;
  });
}

/**
 * Ends an order that cannot be fulfilled, if its state is one of `from`. Its workflow undoes the completed steps.
 * Undelivered payments are refunded in this transaction. If the order was ready and its subscription has ended, nothing
 * is refunded, because the paid months were delivered.
 * @returns undefined if its state is none of these
 */
export async function failOrder(
  tx: Tx,
  orderId: string,
  from: readonly OrderState[],
  error: StoredIssue,
): Promise<OrderRow | undefined> {
  const order = await lockWithPayments(tx, orderId);
  const failed = await moveOrder(tx, orderId, from, 'failed', { reason: error.code, error });
  if (!failed) return undefined;
  const isUsedUp = order.state === 'ready' && error.code === 'subscription_ended';
  if (!isUsedUp) await refundUndelivered(tx, order, 'order_failed');
  signalOrder(tx, orderId, 'failed');
  return failed;
}

/** Signals the order's workflow. Starts one if none is open, as is the case for a ready order. */
function signalOrder(tx: Tx, orderId: string, cause: MailboxOrderSignals['ended']['cause']): void {
  const args = { organizationId: tx.org.organizationId, orderId };
  tx.intend(signal(mailboxOrderWorkflow, args, 'ended', { cause }));
}
