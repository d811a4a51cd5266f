import type Stripe from 'stripe';
import { DAY_MS } from '../../../lib/clock.ts';
import type { Month } from '../payments/months.ts';
import { idOf } from '../payments/stripe.ts';

/** Content of an event about one payment. */
export type PaymentEvent =
  | { kind: 'paid'; money: Money; ids: ProviderIds }
  | { kind: 'expired' | 'failed' | 'charge_failed' | 'pending' }
  | { kind: 'refunded'; refundId: string | null }
  | { kind: 'refund_failed'; refundId: string; code: string }
  /** The second or a later month of a subscription. */
  | { kind: 'month_paid' | 'month_failed'; month: Month }
  | { kind: 'subscription_ended' };

interface Money {
  cents: number;
  /** ISO 4217 code in lower case. */
  currency: string;
}

/** Ids at the provider, by which later events and requests identify the payment. */
interface ProviderIds {
  customerId: string | null;
  intentId: string | null;
  invoiceId: string | null;
  subscriptionId: string | null;
}

/** Identifies the payment of an event by Heron's own id. Without it, one of the provider's ids is used. */
export interface PaymentReference {
  paymentId: string | null;
  intentId: string | null;
  subscriptionId: string | null;
}

/** An event about one of Heron's payments. */
interface ReadEvent {
  about: PaymentReference;
  news: PaymentEvent;
}

/** Parses an event of Stripe. Returns undefined if the event is not relevant. */
export function readPaymentEvent(event: Stripe.Event): ReadEvent | undefined {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return { about: ofSession(event.data.object), news: eventOfSession(event.data.object) };
    case 'checkout.session.async_payment_failed':
      return { about: ofSession(event.data.object), news: { kind: 'failed' } };
    case 'checkout.session.expired':
      return { about: ofSession(event.data.object), news: { kind: 'expired' } };
    case 'payment_intent.succeeded':
      return readIntent(event.data.object);
    // Reads a failed attempt to pay. It is final only for a charge without a person: on a checkout page the person can
    // try again.
    case 'payment_intent.payment_failed':
      return {
        about: reference(event.data.object.metadata, event.data.object.id, null),
        news: { kind: 'charge_failed' },
      };
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
    case 'charge.refund.updated':
      return readRefund(event.data.object);
    case 'charge.refunded':
      return readCharge(event.data.object);
    case 'invoice.paid':
    case 'invoice.payment_failed':
      return readInvoice(event.data.object, event.type === 'invoice.paid' ? 'month_paid' : 'month_failed');
    case 'customer.subscription.deleted':
      return {
        about: reference(event.data.object.metadata, null, event.data.object.id),
        news: { kind: 'subscription_ended' },
      };
    default:
      return undefined;
  }
}

function ofSession(session: Stripe.Checkout.Session): PaymentReference {
  const paymentId = session.client_reference_id ?? session.metadata?.payment_id ?? null;
  return { paymentId, intentId: idOf(session.payment_intent), subscriptionId: idOf(session.subscription) };
}

/**
 * Returns `pending` if the page was completed before the money arrived, as with a bank transfer. Another event reports
 * the payment later.
 */
function eventOfSession(session: Stripe.Checkout.Session): PaymentEvent {
  if (session.payment_status === 'unpaid') return { kind: 'pending' };
  return {
    kind: 'paid',
    money: { cents: session.amount_total ?? 0, currency: session.currency ?? '' },
    ids: {
      customerId: idOf(session.customer),
      intentId: idOf(session.payment_intent),
      invoiceId: idOf(session.invoice),
      subscriptionId: idOf(session.subscription),
    },
  };
}

function readIntent(intent: Stripe.PaymentIntent): ReadEvent | undefined {
  // Ignores the payment intent of an invoice, which has no metadata of Heron. Events of the checkout page or the
  // subscription report the result.
  if (!intent.metadata?.payment_id) return undefined;
  return {
    about: reference(intent.metadata, intent.id, null),
    news: {
      kind: 'paid',
      money: { cents: intent.amount_received, currency: intent.currency },
      ids: { customerId: idOf(intent.customer), intentId: intent.id, invoiceId: null, subscriptionId: null },
    },
  };
}

function readRefund(refund: Stripe.Refund): ReadEvent {
  const about = reference(refund.metadata, idOf(refund.payment_intent), null);
  if (refund.status === 'succeeded') return { about, news: { kind: 'refunded', refundId: refund.id } };
  if (refund.status === 'failed' || refund.status === 'canceled')
    return {
      about,
      news: { kind: 'refund_failed', refundId: refund.id, code: refund.failure_reason ?? refund.status },
    };
  return { about, news: { kind: 'pending' } };
}

function readCharge(charge: Stripe.Charge): ReadEvent {
  const about = reference(charge.metadata, idOf(charge.payment_intent), null);
  return { about, news: charge.refunded ? { kind: 'refunded', refundId: null } : { kind: 'pending' } };
}

function readInvoice(invoice: Stripe.Invoice, kind: 'month_paid' | 'month_failed'): ReadEvent | undefined {
  // Ignores the first month, because it is paid on the checkout page.
  if (invoice.billing_reason === 'subscription_create') return undefined;
  const subscription = invoice.parent?.subscription_details;
  if (!subscription) return undefined;
  const month = {
    invoiceId: invoice.id ?? '',
    cents: invoice.amount_paid,
    currency: invoice.currency,
    endsAt: endOf(invoice),
  };
  return { about: reference(subscription.metadata, null, idOf(subscription.subscription)), news: { kind, month } };
}

/**
 * Returns the latest end of the periods of an invoice's lines. The period of the invoice itself is that of the previous
 * month.
 */
function endOf({ lines, created }: Stripe.Invoice): Date {
  const ends = lines.data.map(({ period }) => period.end);
  return ends.length > 0 ? new Date(Math.max(...ends) * 1000) : new Date(created * 1000 + 31 * DAY_MS);
}

function reference(
  metadata: Stripe.Metadata | null | undefined,
  intentId: string | null,
  subscriptionId: string | null,
): PaymentReference {
  return { paymentId: metadata?.payment_id ?? null, intentId, subscriptionId };
}
