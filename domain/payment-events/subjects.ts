import { renewalPaid, renewalPaymentFailed } from '../domain-renewals/paid.ts';
import type { Tx } from '../kernel/transact.ts';
import { orderPaid, orderPaymentFailed, orderPaymentRecovered } from '../mailbox-orders/paid.ts';
import type { PaymentRow } from '../payments/states.ts';

/** Why a subject is not paid for any more. */
export type PaymentFailure = 'payment_expired' | 'payment_failed' | 'subscription_ended';

/** What a payment is for, as its news reach it. Each is conditional: it applies where the subject still waits for it. */
export interface PaymentSubject {
  /** `too_late`: it does not wait for the money any more. */
  paid(tx: Tx, paymentId: string): Promise<'paid' | 'too_late'>;
  failed(tx: Tx, code: PaymentFailure): Promise<void>;
  /** A month was paid after one that was not. False where nothing was amiss. */
  recovered(tx: Tx): Promise<boolean>;
}

/** The subject of a payment. */
export function subjectOf({ subject, subject_id: id }: Pick<PaymentRow, 'subject' | 'subject_id'>): PaymentSubject {
  return subject === 'order' ? orderOf(id) : renewalOf(id);
}

function orderOf(orderId: string): PaymentSubject {
  return {
    paid: (tx, paymentId) => orderPaid(tx, orderId, paymentId),
    failed: async (tx, code) => void (await orderPaymentFailed(tx, orderId, code)),
    recovered: (tx) => orderPaymentRecovered(tx, orderId),
  };
}

function renewalOf(renewalId: string): PaymentSubject {
  return {
    paid: (tx, paymentId) => renewalPaid(tx, renewalId, paymentId),
    failed: (tx) => renewalPaymentFailed(tx, renewalId),
    recovered: async () => false,
  };
}
