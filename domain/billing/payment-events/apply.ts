import { signalOpen } from '../../../temporal/dispatch.ts';
import { orderRefundWorkflow } from '../../../workflows/order-refund/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { isPeriodOpen } from '../payments/months.ts';
import { movePayment } from '../payments/move.ts';
import { recordRefundNeedsPerson, settleRefund } from '../payments/refund.ts';
import { refundArgs, requestRefund } from '../payments/request-refund.ts';
import type { PaymentRow, PaymentState } from '../payments/states.ts';
import type { PaymentEvent } from './read.ts';
import { subjectOf } from './subjects.ts';
import { message } from '../../../messages/index.ts';

/** States in which no money has been received. */
const UNPAID: readonly PaymentState[] = ['open', 'expired', 'failed'];

/**
 * Applies a payment event, unless it is outdated. The payment must be locked.
 * @returns the result, as a code
 */
export async function applyPaymentEvent(tx: Tx, payment: PaymentRow, news: PaymentEvent): Promise<string> {
  switch (news.kind) {
    case 'paid':
      return recordReceivedMoney(tx, payment, news);
    case 'expired':
    case 'failed':
      return failPayment(tx, payment, news.kind);
    case 'charge_failed':
      return payment.provider_session_id === null ? failPayment(tx, payment, 'failed') : 'ignored';
    case 'refunded':
      return recordRefund(tx, payment, news.refundId);
    case 'refund_failed':
      return failRefund(tx, payment, news);
    case 'month_paid':
      return subjectOf(payment).monthPaid(tx, news.month);
    case 'month_failed':
      return isRefunded(payment) ? 'ignored' : subjectOf(payment).monthFailed(tx, news.month);
    case 'subscription_ended':
      return endSubscription(tx, payment);
    default:
      return 'ignored';
  }
}

/**
 * Records received money. The order or renewal continues if it waits for exactly this amount. Otherwise the payment is
 * late or has another amount or currency, and everything is refunded.
 */
async function recordReceivedMoney(
  tx: Tx,
  payment: PaymentRow,
  news: Extract<PaymentEvent, { kind: 'paid' }>,
): Promise<string> {
  const { money, ids } = news;
  if (!UNPAID.includes(payment.state)) return rememberIds(tx, payment, news);
  const asAsked = money.cents === payment.amount_cents && money.currency === payment.currency;
  const subject = subjectOf(payment);
  const fate = asAsked ? await subject.paid(tx, payment.id) : 'amount_differs';
  if (!asAsked) await subject.failed(tx, 'payment_failed');
  await movePayment(tx, payment.id, UNPAID, 'paid', {
    reason: fate,
    columns: {
      received_cents: money.cents,
      received_currency: money.currency,
      paid_at: tx.now,
      provider_customer_id: ids.customerId,
      provider_payment_id: ids.intentId,
      provider_invoice_id: ids.invoiceId,
      provider_subscription_id: ids.subscriptionId,
    },
  });
  if (fate !== 'paid') await requestRefund(tx, payment.id, fate === 'too_late' ? 'paid_too_late' : fate);
  return fate;
}

/** Stores provider ids that are contained only in a later event about the same payment. */
async function rememberIds(
  tx: Tx,
  payment: PaymentRow,
  { ids }: Extract<PaymentEvent, { kind: 'paid' }>,
): Promise<string> {
  await tx.org
    .table('payments')
    .where({ id: payment.id })
    .update({
      provider_customer_id: payment.provider_customer_id ?? ids.customerId,
      provider_payment_id: payment.provider_payment_id ?? ids.intentId,
      provider_invoice_id: payment.provider_invoice_id ?? ids.invoiceId,
      provider_subscription_id: payment.provider_subscription_id ?? ids.subscriptionId,
    });
  return 'ignored';
}

async function failPayment(tx: Tx, payment: PaymentRow, kind: 'expired' | 'failed'): Promise<string> {
  if (payment.state !== 'open') return 'ignored';
  await subjectOf(payment).failed(tx, kind === 'expired' ? 'payment_expired' : 'payment_failed');
  return (await movePayment(tx, payment.id, ['open'], kind, { reason: `provider_${kind}` })) ? kind : 'ignored';
}

/**
 * Records a refund that Heron or a person at the provider has requested. After a refund by a person, the order or
 * renewal is no longer paid.
 */
async function recordRefund(tx: Tx, payment: PaymentRow, refundId: string | null): Promise<string> {
  if (payment.state === 'refunded') return 'ignored';
  if (payment.state === 'refund_due' || payment.state === 'needs_person') {
    if (isOfFailedRefund(payment, refundId)) return 'ignored';
    const settled = await settleRefund(tx, payment.id, { refundId: refundId ?? payment.provider_refund_id });
    if (settled) signalRefund(tx, payment);
    return settled ? 'refunded' : 'ignored';
  }
  // Changes nothing for a refund of a past period, because that period was delivered.
  if (payment.subject === 'renewal' || (await isPeriodOpen(tx, payment)))
    await subjectOf(payment).failed(tx, 'payment_failed');
  const moved = await movePayment(tx, payment.id, [...UNPAID, 'paid'], 'refunded', {
    reason: 'refunded_at_provider',
    columns: { refunded_at: tx.now, ...(refundId ? { provider_refund_id: refundId } : {}) },
  });
  return moved ? 'refunded' : 'ignored';
}

/**
 * Returns true if an event about a refund may refer to an earlier refund that has failed, because events arrive in any
 * order. An event about the charge does not name the refund. It is ignored after a failed refund, because an event
 * about the refund itself also arrives.
 */
function isOfFailedRefund(payment: PaymentRow, refundId: string | null): boolean {
  const hasFailed = payment.error?.code === 'refund_refused';
  if (refundId === null) return hasFailed || payment.refund_round > 1;
  return hasFailed && refundId === payment.provider_refund_id;
}

/** Records a failed refund. A refund can fail even after it was reported as completed. */
async function failRefund(
  tx: Tx,
  payment: PaymentRow,
  { refundId, code }: Extract<PaymentEvent, { kind: 'refund_failed' }>,
): Promise<string> {
  // Ignores the failure of an earlier refund if a person has since requested another one.
  if (payment.provider_refund_id !== null && payment.provider_refund_id !== refundId) return 'ignored';
  if (!(await recordRefundNeedsPerson(tx, payment.id, { code, reason: message('refund.bank') }))) return 'ignored';
  signalRefund(tx, payment);
  return 'needs_person';
}

async function endSubscription(tx: Tx, payment: PaymentRow): Promise<string> {
  await tx.org.table('payments').where({ id: payment.id }).update({ subscription_ended_at: tx.now });
  if (isRefunded(payment)) return 'ignored';
  await subjectOf(payment).failed(tx, 'subscription_ended');
  return 'subscription_ended';
}

/** Returns true if Heron has ended the subscription itself, because the first payment is or must be refunded. */
function isRefunded({ state }: PaymentRow): boolean {
  return state === 'refund_due' || state === 'refunded' || state === 'needs_person';
}

/** After the commit, signals the workflow of a refund, which then checks the payment again. */
function signalRefund(tx: Tx, payment: PaymentRow): void {
  tx.intend(signalOpen(orderRefundWorkflow, refundArgs(payment), 'changed', { cause: 'provider' }));
}
