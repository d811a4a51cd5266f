import Stripe from 'stripe';
import { HOUR_MS, MINUTE_MS } from '../../../lib/clock.ts';
import {
  orderRefundWorkflow,
  type OrderRefundArgs,
  type RefundReport,
} from '../../../workflows/order-refund/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { singleStatement, transact, type Tx } from '../../platform/kernel/transact.ts';
import { addDeadLetter, dropDeadLetter, REFUND } from '../../platform/dead-letters.ts';
import { readPayment } from './checkout.ts';
import { movePayment } from './move.ts';
import { refundArgs } from './request-refund.ts';
import type { PaymentRow } from './states.ts';
import { idOf, refusalOf, stripeOf, type StripeRefusal } from './stripe.ts';
import { message } from '../../../messages/index.ts';

/** First delay (ms) before a provider that did not respond is called again. Doubles up to {@link LONGEST_WAIT_MS}. */
const FIRST_WAIT_MS = MINUTE_MS / 2;
/**
 * Maximum delay (ms). A refund in progress is also checked at this interval, because the provider's webhook may be
 * lost.
 */
const LONGEST_WAIT_MS = 6 * HOUR_MS;

/**
 * Executes one attempt of a refund: ends the subscription, requests the refund with a key that is the same on every
 * attempt, and stores the result. A person is needed if the provider refuses, or if the refund is not done by its
 * deadline.
 * @throws Error if Heron itself fails; if the provider does not respond, a wait is returned
 */
export async function advanceRefund(
  ctx: Ctx,
  { paymentId }: Pick<OrderRefundArgs, 'paymentId'>,
): Promise<RefundReport> {
  const payment = await readPayment(ctx, paymentId);
  if (payment.state !== 'refund_due') return { kind: 'done', why: payment.state };
  const asked = await askRefund(ctx, payment);
  return transact(ctx, async (tx): Promise<RefundReport> => {
    switch (asked.kind) {
      case 'done':
        await settleRefund(tx, paymentId, { refundId: asked.refundId });
        return { kind: 'done', why: 'refunded' };
      case 'refused':
        await recordRefundNeedsPerson(tx, paymentId, asked.refusal);
        return { kind: 'done', why: 'needs_person' };
      default:
        return waitOn(tx, payment, asked);
    }
  });
}

/** State of a refund as reported by the provider. */
type Asked =
  | { kind: 'done'; refundId: string }
  | { kind: 'refused'; refusal: StripeRefusal }
  | { kind: 'pending'; refundId: string }
  | { kind: 'unanswered' };

async function askRefund(ctx: Ctx, payment: PaymentRow): Promise<Asked> {
  try {
    const stripe = stripeOf(ctx);
    await cancelSubscription(ctx, payment.id);
    const refund = await findOrCreate(ctx, stripe, payment);
    if (!refund)
      return { kind: 'refused', refusal: { code: 'nothing_to_refund', reason: message('refund.no_payment') } };
    if (refund.status === 'succeeded') return { kind: 'done', refundId: refund.id };
    if (refund.status === 'failed' || refund.status === 'canceled')
      return {
        kind: 'refused',
        refusal: { code: refund.failure_reason ?? refund.status, reason: message('refund.not_through') },
      };
    return { kind: 'pending', refundId: refund.id };
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    const refusal = refusalOf(error);
    if (refusal) return { kind: 'refused', refusal };
    ctx.log.warn({ paymentId: payment.id, kind: error.type }, 'the payment provider did not answer to a refund');
    return { kind: 'unanswered' };
  }
}

/**
 * Returns the refund that Heron or a person at the provider requested earlier, or creates one. Returns undefined if no
 * payment was made.
 */
async function findOrCreate(ctx: Ctx, stripe: Stripe, payment: PaymentRow): Promise<Stripe.Refund | undefined> {
  if (payment.provider_refund_id && payment.refund_round === 1)
    return stripe.refunds.retrieve(payment.provider_refund_id);
  const intent = payment.provider_payment_id ?? (await intentOfInvoice(stripe, payment.provider_invoice_id));
  if (!intent) return undefined;
  // Stores the id, because it identifies the payment if a person refunds it at the provider.
  if (intent !== payment.provider_payment_id)
    await singleStatement(ctx).table('payments').where({ id: payment.id }).update({ provider_payment_id: intent });
  const standing = await findExistingRefund(stripe, intent, payment);
  if (standing) return standing;
  try {
    return await stripe.refunds.create(
      { payment_intent: intent, metadata: { payment_id: payment.id, organization_id: payment.organization_id } },
      { idempotencyKey: `${payment.id}/refund/${payment.refund_round}` },
    );
  } catch (error) {
    // Looks up the refund again after a refusal. A person, or an abandoned attempt, may have created it after the first
    // look-up.
    const made = refusalOf(error) && (await findExistingRefund(stripe, intent, payment));
    if (!made) throw error;
    return made;
  }
}

/** Finds a refund of the whole amount that is done or in progress. */
async function findExistingRefund(
  stripe: Stripe,
  intent: string,
  payment: PaymentRow,
): Promise<Stripe.Refund | undefined> {
  const { data } = await stripe.refunds.list({ payment_intent: intent, limit: 10 });
  const due = payment.received_cents ?? payment.amount_cents;
  return data.find(({ status, amount }) => (status === 'succeeded' || status === 'pending') && amount >= due);
}

/** Returns the payment intent of a subscription's invoice, because only the invoice's id is stored. */
async function intentOfInvoice(stripe: Stripe, invoice: string | null): Promise<string | null> {
  if (!invoice) return null;
  const { data } = await stripe.invoicePayments.list({ invoice, limit: 10 });
  const paid = data.find(({ status, payment }) => status === 'paid' && payment.payment_intent);
  return idOf(paid?.payment.payment_intent);
}

/** Ends a subscription now. Does nothing if the subscription has ended or no longer exists. */
async function endSubscription(stripe: Stripe, subscriptionId: string): Promise<void> {
  try {
    await stripe.subscriptions.cancel(subscriptionId);
  } catch (error) {
    if (!refusalOf(error)) throw error;
    const { status } = await stripe.subscriptions.retrieve(subscriptionId);
    if (status !== 'canceled') throw error;
  }
}

/**
 * Ends the subscription that began with a payment, if there is one, so that no further month is charged. May be
 * repeated.
 * @throws StripeError when the same request can be retried
 */
export async function cancelSubscription(ctx: Ctx, paymentId: string): Promise<void> {
  const { provider_subscription_id: id } = await readPayment(ctx, paymentId);
  if (!id) return;
  await endSubscription(stripeOf(ctx), id);
  await singleStatement(ctx)
    .table('payments')
    .where({ id: paymentId })
    .update({ subscription_ended_at: ctx.clock.now() });
}

async function waitOn(
  tx: Tx,
  payment: PaymentRow,
  asked: Extract<Asked, { kind: 'pending' | 'unanswered' }>,
): Promise<RefundReport> {
  const until = payment.refund_until!.getTime();
  const attempts = payment.refund_attempts + 1;
  await tx.org
    .table('payments')
    .where({ id: payment.id, state: 'refund_due' })
    .update({
      refund_attempts: attempts,
      ...(asked.kind === 'pending' ? { provider_refund_id: asked.refundId } : {}),
      blocked_reason: null,
      updated_at: tx.now,
    });
  if (until <= tx.now.getTime()) {
    await recordRefundNeedsPerson(tx, payment.id, { code: 'refund_late', reason: message('refund.late') });
    return { kind: 'done', why: 'needs_person' };
  }
  const waitMs = asked.kind === 'pending' ? LONGEST_WAIT_MS : Math.min(FIRST_WAIT_MS * 2 ** attempts, LONGEST_WAIT_MS);
  return {
    kind: 'wait',
    wakeAt: Math.min(tx.now.getTime() + waitMs, until),
    why: asked.kind === 'pending' ? 'the refund is under way at the provider' : 'the payment provider does not answer',
  };
}

/**
 * Records that a payment was refunded, as reported by the refund's workflow or by the provider's webhook.
 * @returns false when the request was recorded before, or no refund is due
 */
export async function settleRefund(
  tx: Tx,
  paymentId: string,
  { refundId }: { refundId: string | null },
): Promise<boolean> {
  const payment = await movePayment(tx, paymentId, ['refund_due', 'needs_person'], 'refunded', {
    columns: { refunded_at: tx.now, ...(refundId ? { provider_refund_id: refundId } : {}) },
  });
  if (payment) await dropDeadLetter(tx, REFUND, paymentId);
  return payment !== undefined;
}

/**
 * Records that a refund needs a person, with a dead letter and an event. Replaying the dead letter requests the refund
 * again.
 * @returns false when no refund is due
 */
export async function recordRefundNeedsPerson(
  tx: Tx,
  paymentId: string,
  { code, reason }: StripeRefusal,
): Promise<boolean> {
  const said = message('refund.refused', { code, reason });
  const payment = await movePayment(tx, paymentId, ['refund_due', 'refunded'], 'needs_person', {
    reason: code === 'refund_late' ? code : 'refund_refused',
    error: {
      code: code === 'refund_late' ? code : 'refund_refused',
      message: said,
      fix: message('refund.refused.fix'),
    },
  });
  if (!payment) return false;
  await addDeadLetter(tx, {
    taskId: paymentId,
    taskType: REFUND,
    payload: { workflow_id: orderRefundWorkflow.id(refundArgs(payment)), payment_id: paymentId },
    error: said,
    attempts: payment.refund_attempts,
    maxAttempts: 0,
    nextRetryAt: null,
  });
  return true;
}
