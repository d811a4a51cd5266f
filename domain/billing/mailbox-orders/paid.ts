import { signalOpen } from '../../../temporal/dispatch.ts';
import { mailboxOrderWorkflow } from '../../../workflows/mailbox-order/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { failOrder } from './end.ts';
import { leaveUnpaid } from './months.ts';
import { moveOrder } from './move.ts';
import { WORKING } from './states.ts';
import { message } from '../../../messages/index.ts';

/**
 * Records that an order was paid, within the transaction that records the payment: one conditional UPDATE decides between the payment, the
 * end of its time and a cancellation. The workflow of the order is signalled, never started: one that is lost is started by `reconcile`.
 * @returns `too_late` when the order did not wait for this payment: the money goes back
 */
export async function orderPaid(tx: Tx, orderId: string, paymentId: string): Promise<'paid' | 'too_late'> {
  const order = await tx.org.table('mailbox_orders').where({ id: orderId, payment_id: paymentId }).first('id');
  if (!order) return 'too_late';
  const paid = await moveOrder(tx, orderId, ['awaiting_payment'], 'paid');
  if (!paid) return 'too_late';
  const args = { organizationId: tx.org.organizationId, orderId };
  tx.intend(signalOpen(mailboxOrderWorkflow, args, 'paid', { paymentId }));
  return 'paid';
}

/**
 * Records that the payment of an order came to nothing. Before it was paid the order fails. When mailboxes in use are not paid for any more, they are
 * held; when the subscription has ended, they are retired. The time that was paid was used: nothing is given back then.
 * @returns false when there was nothing to record
 */
export async function orderPaymentFailed(
  tx: Tx,
  orderId: string,
  code: 'payment_expired' | 'payment_failed' | 'subscription_ended',
): Promise<boolean> {
  const error = { code, message: message(`order.${code}`), fix: message(`order.${code}.fix`) };
  if (code === 'subscription_ended') return (await failOrder(tx, orderId, ['ready', ...WORKING], error)) !== undefined;
  if ((await failOrder(tx, orderId, ['awaiting_payment'], error)) !== undefined) return true;
  return code === 'payment_failed' && leaveUnpaid(tx, orderId);
}
