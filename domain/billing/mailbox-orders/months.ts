import { json } from '../../../db/connection.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { isMonthPaid, PAID_UNTIL, recordMonth, type Month } from '../payments/months.ts';
import { requestRefund } from '../payments/request-refund.ts';
import { isLapsed, settleHolds } from './hold.ts';
import { lockOrder } from './move.ts';
import { hasEnded, type OrderRow } from './states.ts';
import { message } from '../../../messages/index.ts';

/**
 * Records the payment of a later month of an order whose first payment is locked, and releases the mailboxes that were
 * held because it was unpaid. The money is refunded if the order has ended, or if no domain of the order is registered
 * when the month begins.
 * @returns the result, as a code
 */
export async function recordOrderMonthPaid(tx: Tx, orderId: string, month: Month): Promise<string> {
  const order = await lockOrder(tx, orderId);
  const payment = month.cents > 0 ? await recordMonth(tx, orderId, month) : undefined;
  if (month.cents > 0 && !payment) return 'ignored';
  if (payment && hasEnded(order.state)) {
    await requestRefund(tx, payment.id, 'paid_too_late');
    return 'too_late';
  }
  if (payment && (await hasNoDomain(tx, orderId))) await requestRefund(tx, payment.id, 'domain_lapsed');
  await tx.org.sql(
    `update mailbox_orders set error = null, updated_at = :now
     where organization_id = :org and id = :id and state = 'ready' and error ->> 'code' = 'payment_failed'`,
    { id: orderId, now: tx.now },
  );
  await settleHolds(tx, orderId);
  return 'month_paid';
}

/**
 * Records that a later month of an order is unpaid, and holds its mailboxes until it is paid. Does nothing if the
 * payment was already reported.
 * @returns the result, as a code
 */
export async function recordOrderMonthFailed(tx: Tx, orderId: string, month: Month): Promise<string> {
  await lockOrder(tx, orderId);
  if (await isMonthPaid(tx, orderId, month)) return 'ignored';
  return (await markOrderUnpaid(tx, orderId)) ? 'month_failed' : 'ignored';
}

/**
 * Marks a ready order as unpaid, and holds its mailboxes until a month is paid. Returns false for an order in any other
 * state.
 */
export async function markOrderUnpaid(tx: Tx, orderId: string): Promise<boolean> {
  const noted = await tx.org
    .table('mailbox_orders')
    .where({ id: orderId, state: 'ready' })
    .update({ error: json(UNPAID), updated_at: tx.now });
  if (noted === 0) return false;
  tx.audit({
    action: 'update',
    entityType: 'mailbox_order',
    entityId: orderId,
    metadata: { reason: UNPAID.code },
  });
  await settleHolds(tx, orderId);
  return true;
}

const UNPAID = {
  code: 'payment_failed',
  message: message('order.month_unpaid'),
  fix: message('order.month_unpaid.fix'),
};

/**
 * Refunds the undelivered payments of a locked order. These are all payments if the order never became ready, and
 * otherwise the whole current month. Earlier months were delivered and are not refunded. The cost of domain
 * registrations belongs to the first month.
 */
export async function refundUndelivered(tx: Tx, order: OrderRow, reason: string): Promise<void> {
  const payments = await tx.org.sql<{ id: string }>(
    `select id from payments
     where organization_id = :org and subject in ('order', 'order_month') and subject_id = :order and state = 'paid'
       and (:all or ${PAID_UNTIL} > :now) order by id`,
    { order: order.id, all: order.ready_at === null, now: tx.now },
  );
  for (const { id } of payments) await requestRefund(tx, id, reason);
}

/** Returns true if none of the domains of the order's mailboxes is still registered. */
async function hasNoDomain(tx: Tx, orderId: string): Promise<boolean> {
  const [row] = await tx.org.sql<{ lapsed: boolean | null }>(
    `select bool_and(${isLapsed('m.domain')}) as lapsed from order_mailboxes m where m.organization_id = :org and m.order_id = :order`,
    { order: orderId },
  );
  return row?.lapsed === true;
}
