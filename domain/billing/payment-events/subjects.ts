import { recordRenewalPaid, recordRenewalPaymentFailed } from '../domain-renewals/paid.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { recordOrderMonthFailed, recordOrderMonthPaid } from '../mailbox-orders/months.ts';
import { recordOrderPaid, recordOrderPaymentFailed } from '../mailbox-orders/paid.ts';
import type { Month } from '../payments/months.ts';
import type { PaymentRow } from '../payments/states.ts';

/** Reason why an order or renewal is no longer paid. */
type PaymentFailure = 'payment_expired' | 'payment_failed' | 'subscription_ended';

/**
 * Handlers of an order or renewal for changes of its payment. Each change applies only if the order or renewal still
 * waits for the payment.
 */
interface PaymentSubject {
  /** Handles a received payment. Returns `too_late` if the order or renewal no longer waits for it. */
  paid(tx: Tx, paymentId: string): Promise<'paid' | 'too_late'>;
  failed(tx: Tx, code: PaymentFailure): Promise<void>;
  /** Handles the payment of a later month of the subscription. Returns the result as a code. */
  monthPaid(tx: Tx, month: Month): Promise<string>;
  monthFailed(tx: Tx, month: Month): Promise<string>;
}

/** Returns the handlers for the order or renewal of a payment. The payment of a later month belongs to its order. */
export function subjectOf({ subject, subject_id: id }: Pick<PaymentRow, 'subject' | 'subject_id'>): PaymentSubject {
  return subject === 'renewal' ? renewalOf(id) : orderOf(id);
}

function orderOf(orderId: string): PaymentSubject {
  return {
    paid: (tx, paymentId) => recordOrderPaid(tx, orderId, paymentId),
    failed: async (tx, code) => void (await recordOrderPaymentFailed(tx, orderId, code)),
    monthPaid: (tx, month) => recordOrderMonthPaid(tx, orderId, month),
    monthFailed: (tx, month) => recordOrderMonthFailed(tx, orderId, month),
  };
}

function renewalOf(renewalId: string): PaymentSubject {
  return {
    paid: (tx, paymentId) => recordRenewalPaid(tx, renewalId, paymentId),
    failed: (tx) => recordRenewalPaymentFailed(tx, renewalId),
    monthPaid: async () => 'ignored',
    monthFailed: async () => 'ignored',
  };
}
