import { DAY_MS } from '../../../lib/clock.ts';
import { signal, start } from '../../../temporal/dispatch.ts';
import { orderRefundWorkflow } from '../../../workflows/order-refund/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { movePayment } from './move.ts';
import type { PaymentRow } from './states.ts';

/** Time (ms) after which a refund that is not done needs a person. Banks take up to ten working days. */
const REFUND_WAIT_MS = 14 * DAY_MS;

/**
 * Requests the full refund of a payment and the end of its subscription. The workflow `order-refund/{paymentId}` starts
 * after the commit and executes the refund.
 * @param reason a stable code, such as `order_cancelled`
 * @returns false for a payment that is not paid, or is already being refunded
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

/** Returns the arguments of the workflow that refunds a payment. */
export function refundArgs({ organization_id, id }: Pick<PaymentRow, 'organization_id' | 'id'>) {
  return { organizationId: organization_id, paymentId: id };
}

/**
 * Retries a refund that was refused, that missed its deadline, or whose workflow failed repeatedly. After a refusal the
 * request gets a new idempotency key, because with the same key the provider would repeat its refusal. Otherwise the
 * key is the same, so that the provider executes the request only once.
 * @returns false when no refund is due
 */
export async function retryRefund(tx: Tx, paymentId: string, cause: 'operator' | 'sweep'): Promise<boolean> {
  const [payment] = await tx.org.sql<Pick<PaymentRow, 'id' | 'organization_id'>>(
    `update payments set state = 'refund_due', blocked_reason = null, error = null, updated_at = :now,
       refund_attempts = case state when 'needs_person' then 0 else refund_attempts end,
       refund_until = case state when 'needs_person' then :until else refund_until end,
       refund_round = refund_round + case when error ->> 'code' = 'refund_refused' then 1 else 0 end
     where organization_id = :org and id = :id and state in ('refund_due', 'needs_person') returning id, organization_id`,
    { id: paymentId, now: tx.now, until: new Date(tx.now.getTime() + REFUND_WAIT_MS) },
  );
  if (payment) tx.intend(signal(orderRefundWorkflow, refundArgs(payment), 'retry', { cause }));
  return payment !== undefined;
}
