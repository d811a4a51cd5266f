import { signalOpen } from '../../../temporal/dispatch.ts';
import { mailboxOrderWorkflow } from '../../../workflows/mailbox-order/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { failOrder } from './end.ts';
import { markOrderUnpaid } from './months.ts';
import { moveOrder } from './move.ts';
import { WORKING } from './states.ts';
import { message } from '../../../messages/index.ts';

/**
 * Records that an order was paid, within the transaction that records the payment. The state is checked and changed in
 * one UPDATE, so only one of the payment, its deadline and a cancellation takes effect. Signals the order's workflow
 * but never starts it; `reconcile` starts a missing one.
 * @returns `too_late` if the order did not wait for this payment; the caller then refunds the payment
 */
export async function recordOrderPaid(tx: Tx, orderId: string, paymentId: string): Promise<'paid' | 'too_late'> {
  const order = await tx.org.table('mailbox_orders').where({ id: orderId, payment_id: paymentId }).first('id');
  if (!order) return 'too_late';
  const paid = await moveOrder(tx, orderId, ['awaiting_payment'], 'paid');
  if (!paid) return 'too_late';
  const args = { organizationId: tx.org.organizationId, orderId };
  tx.intend(signalOpen(mailboxOrderWorkflow, args, 'paid', { paymentId }));
  return 'paid';
}

/**
 * Records that the payment of an order failed. An order that was never paid fails. A paid order fails if its
 * subscription has ended. Otherwise the mailboxes of a ready order are held until it is paid.
 * @returns false if no change was recorded
 */
export async function recordOrderPaymentFailed(
  tx: Tx,
  orderId: string,
  code: 'payment_expired' | 'payment_failed' | 'subscription_ended',
): Promise<boolean> {
  const error = { code, message: message(`order.${code}`), fix: message(`order.${code}.fix`) };
  if (code === 'subscription_ended') return (await failOrder(tx, orderId, ['ready', ...WORKING], error)) !== undefined;
  if ((await failOrder(tx, orderId, ['awaiting_payment'], error)) !== undefined) return true;
  return code === 'payment_failed' && markOrderUnpaid(tx, orderId);
}
