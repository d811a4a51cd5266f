import { DAY_MS } from '../../lib/clock.ts';
import { start } from '../../temporal/dispatch.ts';
import { orderRefundWorkflow } from '../../workflows/order-refund/contract.ts';
import type { Tx } from '../kernel/transact.ts';
import { movePayment } from './move.ts';
import type { PaymentRow } from './states.ts';

/** A refund that is not done after this long (ms) needs a person. Banks take up to ten working days. */
export const REFUND_WAIT_MS = 14 * DAY_MS;

/**
 * Has a payment given back in whole, and its subscription ended. The money is asked back by `order-refund/{paymentId}`, which starts with
 * the commit.
 * @param reason a stable code, such as `order_cancelled`
 * @returns false for a payment that is not paid, or is being given back already
 */
export async function requestRefund(tx: Tx, paymentId: string, reason: string): Promise<boolean> {
  const payment = await movePayment(tx, paymentId, ['paid'], 'refund_due', {
    reason,
    columns: {
      refund_reason: reason,
      refund_due_at: tx.now,
      refund_until: new Date(tx.now.getTime() + REFUND_WAIT_MS),
    },
  });
  if (payment) tx.intend(start(orderRefundWorkflow, refundArgs(payment)));
  return payment !== undefined;
}

/** The arguments of the run that refunds a payment. */
export function refundArgs({ organization_id, id }: Pick<PaymentRow, 'organization_id' | 'id'>) {
  return { organizationId: organization_id, paymentId: id };
}
