import { recordRenewalPaid, recordRenewalPaymentFailed } from '../domain-renewals/paid.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { recordOrderMonthFailed, recordOrderMonthPaid } from '../mailbox-orders/months.ts';
import { recordOrderPaid, recordOrderPaymentFailed } from '../mailbox-orders/paid.ts';
import type { Month } from '../payments/months.ts';
import type { PaymentRow } from '../payments/states.ts';

/** Reason why a subject is no longer paid. */
type PaymentFailure = 'payment_expired' | 'payment_failed' | 'subscription_ended';

/**
 * Handlers for changes of a payment, by its subject. Each change is conditional: it applies only if the subject still
 * waits for the payment.
 */
interface PaymentSubject {
  /** Handles the payment. Returns `too_late` if the subject no longer waits for it. */
  paid(tx: Tx, paymentId: string): Promise<'paid' | 'too_late'>;
  failed(tx: Tx, code: PaymentFailure): Promise<void>;
  /** Handles the payment of a later month of the subscription. Returns the result as a code. */
  monthPaid(tx: Tx, month: Month): Promise<string>;
  monthFailed(tx: Tx, month: Month): Promise<string>;
}

/** Returns the handlers for the subject of a payment. The subject of a later month is its order. */
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
