import type { StoredIssue } from '../../db/json-columns.ts';
import { signal } from '../../temporal/dispatch.ts';
import { mailboxOrderWorkflow, type MailboxOrderSignals } from '../../workflows/mailbox-order/contract.ts';
import type { Ctx } from '../kernel/context.ts';
import { transact, type Tx } from '../kernel/transact.ts';
import { requestRefund } from '../payments/request-refund.ts';
import { lockWithPayment, moveOrder } from './move.ts';
import { hasEnded, ORDER_STATES, WORKING, type OrderRow, type OrderState } from './states.ts';

/**
 * Cancels an order in any state (POST /mailbox-provisioning/:id/cancel). Before the payment nothing was bought, and the checkout is closed.
 * After it the payment is refunded, and the order's workflow gives what was bought back to the provider, step by step; mailboxes leave Heron
 * with that. An order that was cancelled or has failed is answered as it is.
 * @throws AppError not_found
 */
export async function cancelOrder(ctx: Ctx, orderId: string): Promise<OrderRow> {
  return transact(ctx, async (tx) => {
    const order = await lockWithPayment(tx, orderId);
    if (hasEnded(order.state)) return order;
    const cancelled = await moveOrder(tx, orderId, ORDER_STATES, 'cancelled', { reason: 'request' });
    if (order.payment_id) await requestRefund(tx, order.payment_id, 'order_cancelled');
    wake(tx, orderId, 'cancelled');
    return cancelled!;
  });
}

/**
 * Ends an order that cannot be fulfilled, if it is in one of `from`; its workflow undoes what it has made. Of an order that was paid and is
 * not ready the payment is refunded, in this transaction.
 * @returns undefined when it was in none of these states
 */
export async function failOrder(
  tx: Tx,
  orderId: string,
  from: readonly OrderState[],
  error: StoredIssue,
): Promise<OrderRow | undefined> {
  const order = await lockWithPayment(tx, orderId);
  const failed = await moveOrder(tx, orderId, from, 'failed', { reason: error.code, error });
  if (!failed) return undefined;
  if (WORKING.includes(order.state)) await requestRefund(tx, order.payment_id!, 'order_failed');
  wake(tx, orderId, 'failed');
  return failed;
}

/** A run that is open looks again; that of an order that was ready has ended, and another is started. */
function wake(tx: Tx, orderId: string, cause: MailboxOrderSignals['ended']['cause']): void {
  const args = { organizationId: tx.org.organizationId, orderId };
  tx.intend(signal(mailboxOrderWorkflow, args, 'ended', { cause }));
}
