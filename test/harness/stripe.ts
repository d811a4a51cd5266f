/**
 * Stub of Stripe: a real HTTP server that keeps sessions, payments, subscriptions and refunds in memory, and sends
 * webhooks signed like Stripe's. For tests and for trying orders locally. It can send an event twice, late or out of
 * order, and refuse, delay or fail refunds. A person pays by sending a POST to a session's page.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';

/** Handling of refunds. With `pending`, a refund waits for {@link StripeDouble.finishRefund}. */
type RefundMode = 'succeed' | 'pending' | 'refuse';
/** Result of charging a saved payment method. */
type ChargeMode = 'succeed' | 'decline' | 'processing';

export interface StripeDouble {
  /** Origin of the stub, for STRIPE_API_BASE. */
  url: string;
  secretKey: string;
  webhookSecret: string;
  /** Settings that make Heron use the stub. */
  readonly env: { STRIPE_SECRET_KEY: string; STRIPE_WEBHOOK_SECRET: string; STRIPE_API_BASE: string };
  /** Answered requests as `METHOD /path`. */
  requests: string[];
  /** Balance (cents): payments minus refunds. */
  readonly balance: number;
  /** Refunds that moved money. */
  readonly refunds: readonly Stripe.Refund[];
  /** All payments and charges. */
  readonly intents: readonly Stripe.PaymentIntent[];
  refundMode: RefundMode;
  chargeMode: ChargeMode;
  /** Returns the result of a charge with this metadata; if undefined, `chargeMode` applies. */
  chargeModeOf?: (metadata: Record<string, string>) => ChargeMode | undefined;
  /** Number of next requests that are answered with status 500. */
  failNext: number;
  /** Number of next requests that are executed, but whose connection is closed without an answer. */
  loseNext: number;
  /** If true, events are stored instead of sent; {@link StripeDouble.deliver} sends them. */
  hold: boolean;
  /** Events that were stored by `hold` and not delivered yet. */
  readonly held: readonly Stripe.Event[];
  /** Sets the URL to which webhooks are sent. */
  sendTo(url: string): void;
  /** Pays on a session's page, now or with money that arrives later ({@link StripeDouble.settle}). */
  pay(sessionId: string, how?: { cents?: number; currency?: string; later?: boolean }): Promise<void>;
  /** Settles a session's later payment. `came` is true if the money arrives. */
  settle(sessionId: string, came: boolean): Promise<void>;
  /** Settles a slow charge, by the id of its payment. `came` is true if the money arrives. */
  settleCharge(paymentId: string, came: boolean): Promise<void>;
  /** Expires a session. */
  expire(sessionId: string): Promise<void>;
  /**
   * Charges the next month of a subscription; with `invoiceId`, charges that invoice again. `paid` is true if the
   * charge succeeds. Returns the invoice's id.
   */
  chargeMonth(subscriptionId: string, paid: boolean, invoiceId?: string): Promise<string>;
  /** Ends a subscription, like Stripe does after a cancellation or unpaid months. */
  endSubscription(subscriptionId: string): Promise<void>;
  /** Refunds a payment manually, as a person does in Stripe's dashboard. */
  refundByHand(paymentId: string): Promise<void>;
  /** Returns the payment of a paid invoice. */
  intentOf(invoiceId: string): string;
  /** Finishes a pending refund. */
  finishRefund(refundId: string, status: 'succeeded' | 'failed'): Promise<void>;
  /** Sends these events in order; an event that is given twice is sent twice. Returns the statuses of the answers. */
  deliver(...events: readonly Stripe.Event[]): Promise<number[]>;
  /** Returns the session of a payment. */
  sessionOf(paymentId: string): Stripe.Checkout.Session | undefined;
  close(): Promise<void>;
}

type Fields = Record<string, unknown>;
type Kept = Record<string, any> & { id: string };

/** Answer to a request, thrown by handlers. */
class Answer extends Error {
  readonly status: number;
  readonly body: object;

  constructor(status: number, type: string, code: string, message: string) {
    super(message);
    this.status = status;
    this.body = { error: { type, code, message } };
  }
}

/** Starts the stub on a free local port. */
export async function startStripe(
  options: { webhookUrl?: string; port?: number; now?: () => Date } = {},
): Promise<StripeDouble> {
  const kept = new Map<string, Kept>();
  const answered = new Map<string, { path: string; body: string; status: number; answer: object }>();
  const held: Stripe.Event[] = [];
  const requests: string[] = [];
  let webhookUrl = options.webhookUrl;
  const webhookSecret = `whsec_${randomBytes(16).toString('hex')}`;

  const make = (prefix: string, object: string, fields: Fields): Kept => {
    const made = { id: `${prefix}_${randomBytes(10).toString('hex')}`, object, created: seconds(), ...fields };
    kept.set(made.id, made);
    return made;
  };
  const get = (id: unknown, object: string): Kept => {
    const found = kept.get(String(id));
    if (found?.object !== object)
      throw new Answer(404, 'invalid_request_error', 'resource_missing', `No such ${object}: '${String(id)}'`);
    return found;
  };
  const all = (object: string) => [...kept.values()].filter((one) => one.object === object);
  const list = (data: readonly Kept[]) => ({ object: 'list', data, has_more: false, url: '/' });

  const emit = async (type: string, object: Kept): Promise<void> => {
    const event = {
      id: `evt_${randomBytes(10).toString('hex')}`,
      object: 'event',
      api_version: Stripe.API_VERSION,
      created: seconds(),
      livemode: false,
      pending_webhooks: 1,
      request: null,
      type,
      data: { object: structuredClone(object) },
    } as unknown as Stripe.Event;
    if (double.hold || !webhookUrl) held.push(event);
    else await double.deliver(event);
  };

  const takeMoney = (amount: number, currency: string, more: Fields): Kept =>
    make('pi', 'payment_intent', { amount, amount_received: amount, currency, status: 'succeeded', ...more });

  const refund = async (fields: Fields): Promise<Kept> => {
    const intent = get(fields.payment_intent, 'payment_intent');
    if (double.refundMode === 'refuse')
      throw new Answer(400, 'invalid_request_error', 'charge_disputed', 'The charge has been disputed');
    const back = all('refund')
      .filter((one) => one.payment_intent === intent.id && one.status !== 'failed')
      .reduce((sum, one) => sum + Number(one.amount), 0);
    if (back >= Number(intent.amount_received))
      throw new Answer(400, 'invalid_request_error', 'charge_already_refunded', 'It has been refunded already');
    const made = make('re', 'refund', {
      amount: Number(intent.amount_received) - back,
      currency: intent.currency,
      payment_intent: intent.id,
      metadata: fields.metadata ?? {},
      status: double.refundMode === 'pending' ? 'pending' : 'succeeded',
      failure_reason: null,
    });
    await emit('refund.created', made);
    if (made.status === 'succeeded') await emit('charge.refunded', chargeOf(intent));
    return made;
  };

  const charge = async (fields: Fields): Promise<Kept> => {
    const mode = double.chargeModeOf?.((fields.metadata ?? {}) as Record<string, string>) ?? double.chargeMode;
    if (mode === 'decline') throw new Answer(402, 'card_error', 'card_declined', 'Your card was declined.');
    const more = { customer: fields.customer, payment_method: fields.payment_method, metadata: fields.metadata ?? {} };
    const processing = mode === 'processing';
    const intent = takeMoney(Number(fields.amount), String(fields.currency), more);
    if (processing) Object.assign(intent, { status: 'processing', amount_received: 0 });
    else await emit('payment_intent.succeeded', intent);
    return intent;
  };

  const answer = async (method: string, path: string, fields: Fields): Promise<object> => {
    const [, , area = '', sub = '', id = '', verb = ''] = path
      .replace('/checkout/sessions', '/sessions/all')
      .split('/');
    const one = area === 'sessions' ? id : sub;
    switch (`${method} ${area}`) {
      case 'POST sessions':
        if (verb === 'expire') {
          const session = get(one, 'checkout.session');
          if (session.status !== 'open')
            throw new Answer(400, 'invalid_request_error', 'resource_invalid', 'Only open sessions can be expired');
          await double.expire(session.id);
          return session;
        }
        return openSession(make, double.url, fields);
      case 'GET sessions':
        return get(one, 'checkout.session');
      case 'POST payment_intents':
        return charge(fields);
      case 'GET payment_intents':
        return get(one, 'payment_intent');
      case 'POST refunds':
        return refund(fields);
      case 'GET refunds':
        return one
          ? get(one, 'refund')
          : list(all('refund').filter((each) => each.payment_intent === fields.payment_intent));
      case 'GET invoice_payments':
        return list(all('invoice_payment').filter((each) => each.invoice === fields.invoice));
      case 'GET subscriptions':
        return get(one, 'subscription');
      case 'DELETE subscriptions':
        if (get(one, 'subscription').status === 'canceled')
          throw new Answer(404, 'invalid_request_error', 'resource_missing', 'No such subscription');
        await double.endSubscription(one);
        return get(one, 'subscription');
      case 'GET customers':
        return get(one, 'customer');
      default:
        throw new Answer(404, 'invalid_request_error', 'url_invalid', `Unrecognized request URL (${method}: ${path})`);
    }
  };

  const payInvoice = (invoice: Kept, intent: Kept): void => {
    make('inpay', 'invoice_payment', {
      invoice: invoice.id,
      status: 'paid',
      payment: { type: 'payment_intent', payment_intent: intent.id },
    });
  };

  const complete = (session: Kept, cents: number, currency: string): void => {
    const customer = session.customer ?? make('cus', 'customer', { invoice_settings: {} }).id;
    const method = make('pm', 'payment_method', { type: 'card' }).id;
    const intent = takeMoney(cents, currency, {
      customer,
      payment_method: method,
      metadata: session.mode === 'payment' ? session.metadata : {},
    });
    Object.assign(session, { customer, payment_status: 'paid', amount_total: cents, currency });
    if (session.mode === 'payment') session.payment_intent = intent.id;
    else {
      const invoice = make('in', 'invoice', { billing_reason: 'subscription_create' });
      payInvoice(invoice, intent);
      session.invoice = invoice.id;
      session.subscription = make('sub', 'subscription', {
        status: 'active',
        customer,
        default_payment_method: method,
        metadata: session.metadata,
        monthly: session.monthly,
        currency,
        period_end: Math.floor((options.now?.() ?? new Date()).getTime() / 1000) + 30 * 86_400,
      }).id;
    }
  };

  const double: StripeDouble = {
    url: '',
    secretKey: `sk_test_${randomBytes(12).toString('hex')}`,
    webhookSecret,
    get env() {
      return {
        STRIPE_SECRET_KEY: double.secretKey,
        STRIPE_WEBHOOK_SECRET: double.webhookSecret,
        STRIPE_API_BASE: double.url,
      };
    },
    requests,
    get balance() {
      const taken = all('payment_intent').reduce((sum, one) => sum + Number(one.amount_received), 0);
      const back = all('refund').reduce((sum, one) => sum + (one.status === 'succeeded' ? Number(one.amount) : 0), 0);
      return taken - back;
    },
    get refunds() {
      return all('refund') as unknown as Stripe.Refund[];
    },
    get intents() {
      return all('payment_intent') as unknown as Stripe.PaymentIntent[];
    },
    refundMode: 'succeed',
    chargeMode: 'succeed',
    failNext: 0,
    loseNext: 0,
    hold: false,
    held,
    sendTo(url) {
      webhookUrl = url;
    },
    async pay(sessionId, { cents, currency, later = false } = {}) {
      const session = get(sessionId, 'checkout.session');
      if (session.status !== 'open') throw new Error(`the session is ${String(session.status)}`);
      session.status = 'complete';
      if (!later) complete(session, cents ?? Number(session.amount_total), currency ?? String(session.currency));
      await emit('checkout.session.completed', session);
    },
    async settle(sessionId, came) {
      const session = get(sessionId, 'checkout.session');
      if (came) complete(session, Number(session.amount_total), String(session.currency));
      await emit(`checkout.session.async_payment_${came ? 'succeeded' : 'failed'}`, session);
    },
    async settleCharge(paymentId, came) {
      const intent = all('payment_intent').find((one) => one.metadata?.payment_id === paymentId)!;
      Object.assign(intent, came ? { status: 'succeeded', amount_received: intent.amount } : { status: 'canceled' });
      await emit(came ? 'payment_intent.succeeded' : 'payment_intent.payment_failed', intent);
    },
    async expire(sessionId) {
      const session = get(sessionId, 'checkout.session');
      session.status = 'expired';
      await emit('checkout.session.expired', session);
    },
    async chargeMonth(subscriptionId, paid, invoiceId) {
      const subscription = get(subscriptionId, 'subscription');
      const { customer, monthly, currency } = subscription;
      const invoice = invoiceId ? get(invoiceId, 'invoice') : openMonth(make, subscription);
      if (paid) {
        const intent = takeMoney(Number(monthly), String(currency), { customer, metadata: {} });
        invoice.amount_paid = monthly;
        payInvoice(invoice, intent);
      }
      await emit(paid ? 'invoice.paid' : 'invoice.payment_failed', invoice);
      return invoice.id;
    },
    async endSubscription(subscriptionId) {
      const subscription = get(subscriptionId, 'subscription');
      subscription.status = 'canceled';
      await emit('customer.subscription.deleted', subscription);
    },
    async refundByHand(paymentId) {
      const session = all('checkout.session').find((one) => one.client_reference_id === paymentId);
      const ofInvoice = all('invoice_payment').find((one) => one.invoice === session?.invoice);
      await refund({ payment_intent: session?.payment_intent ?? ofInvoice?.payment.payment_intent });
    },
    intentOf: (invoiceId) =>
      all('invoice_payment').find(({ invoice }) => invoice === invoiceId)!.payment.payment_intent,
    async finishRefund(refundId, status) {
      const made = get(refundId, 'refund');
      Object.assign(made, { status, failure_reason: status === 'failed' ? 'expired_or_canceled_card' : null });
      await emit(status === 'failed' ? 'refund.failed' : 'refund.updated', made);
    },
    async deliver(...events) {
      const statuses: number[] = [];
      for (const event of events) {
        if (held.includes(event)) held.splice(held.indexOf(event), 1);
        statuses.push(
          await post(webhookUrl!, JSON.stringify(event, null, 2), webhookSecret, (options.now ?? (() => new Date()))()),
        );
      }
      return statuses;
    },
    sessionOf: (paymentId) =>
      all('checkout.session').find((one) => one.client_reference_id === paymentId) as
        | Stripe.Checkout.Session
        | undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { pathname: path, search } = new URL(request.url ?? '/', 'http://double');
    const method = request.method ?? 'GET';
    const reply = (status: number, answer: object) => {
      response.writeHead(status, {
        'content-type': 'application/json',
        'request-id': `req_${randomBytes(6).toString('hex')}`,
      });
      response.end(JSON.stringify(answer));
    };
    if (path.startsWith('/c/pay/')) {
      if (method === 'POST') await double.pay(path.slice('/c/pay/'.length));
      return reply(200, get(path.slice('/c/pay/'.length), 'checkout.session'));
    }
    requests.push(`${method} ${path}`);
    if (request.headers.authorization !== `Bearer ${double.secretKey}`)
      return reply(401, { error: { type: 'invalid_request_error', message: 'Invalid API Key provided' } });
    if (double.failNext > 0) {
      double.failNext -= 1;
      return reply(500, { error: { type: 'api_error', message: 'Something went wrong' } });
    }
    const key = request.headers['idempotency-key'];
    const before = typeof key === 'string' ? answered.get(key) : undefined;
    let status = 200;
    let given: object;
    if (before) {
      const same = before.path === path && before.body === body;
      ({ status } = before);
      given = before.answer;
      if (!same) {
        status = 400;
        given = new Answer(400, 'idempotency_error', 'idempotency_error', 'The key was used for another request').body;
      }
    } else {
      try {
        given = structuredClone(await answer(method, path, readForm(method === 'GET' ? search.slice(1) : body)));
      } catch (error) {
        if (!(error instanceof Answer)) throw error;
        ({ status } = error);
        given = error.body;
      }
      if (typeof key === 'string') answered.set(key, { path, body, status, answer: given });
    }
    if (double.loseNext > 0) {
      double.loseNext -= 1;
      request.socket.destroy();
      return;
    }
    reply(status, given);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  double.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return double;
}

function openSession(
  make: (prefix: string, object: string, fields: Fields) => Kept,
  url: string,
  fields: Fields,
): Kept {
  const lines = Object.values((fields.line_items ?? {}) as Record<string, any>);
  const session = make('cs_test', 'checkout.session', {
    mode: fields.mode,
    status: 'open',
    payment_status: 'unpaid',
    client_reference_id: fields.client_reference_id,
    metadata: fields.metadata ?? {},
    success_url: fields.success_url,
    amount_total: sumOf(lines),
    monthly: sumOf(lines.filter(({ price_data: price }) => price.recurring)),
    currency: lines[0]?.price_data.currency,
    customer: fields.customer ?? null,
    payment_intent: null,
    invoice: null,
    subscription: null,
    expires_at: seconds() + 86_400,
  });
  session.url = `${url}/c/pay/${session.id}`;
  return session;
}

function sumOf(lines: readonly any[]): number {
  return lines.reduce((sum, line) => sum + Number(line.quantity) * Number(line.price_data.unit_amount), 0);
}

/** Creates the unpaid invoice of a subscription's next month. */
function openMonth(make: (prefix: string, object: string, fields: Fields) => Kept, subscription: Kept): Kept {
  const start = Number(subscription.period_end);
  const end = start + 30 * 86_400;
  subscription.period_end = end;
  const { id, metadata, currency } = subscription;
  return make('in', 'invoice', {
    billing_reason: 'subscription_cycle',
    amount_paid: 0,
    currency,
    lines: { object: 'list', data: [{ id: 'il_1', period: { start, end } }] },
    parent: { type: 'subscription_details', subscription_details: { subscription: id, metadata } },
  });
}

function chargeOf(intent: Kept): Kept {
  return {
    id: `ch_${intent.id}`,
    object: 'charge',
    payment_intent: intent.id,
    metadata: intent.metadata,
    refunded: true,
  };
}

/** Parses Stripe's form encoding: `a[b][0][c]=d`. */
function readForm(text: string): Fields {
  const fields: Fields = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.replaceAll(']', '').split('[');
    let place: Fields = fields;
    for (const part of path.slice(0, -1)) place = (place[part] ??= {}) as Fields;
    place[path.at(-1)!] = value;
  }
  return fields;
}

async function post(url: string, body: string, secret: string, at: Date): Promise<number> {
  const signature = Stripe.webhooks.generateTestHeaderString({
    payload: body,
    secret,
    timestamp: Math.floor(at.getTime() / 1000),
  });
  const headers = { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature };
  const { status } = await fetch(url, { method: 'POST', headers, body });
  return status;
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
