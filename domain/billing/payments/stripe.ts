import Stripe from 'stripe';
import type { Egress } from '../../../lib/egress/index.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import type { Message } from '../../../messages/index.ts';

/** Timeout (ms) of one request to Stripe. */
export const STRIPE_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Headers that the egress module sets itself. */
const OWN_HEADERS = /^(host|connection|content-length|transfer-encoding|keep-alive)$/i;

const clients = new WeakMap<Egress, Stripe>();

/**
 * Returns Stripe's client. It sends all requests through the egress module. It does not retry, because Temporal retries
 * the calling activity.
 * @throws Error when STRIPE_SECRET_KEY is not set
 */
export function stripeOf({ config, egress }: Pick<Deps, 'config' | 'egress'>): Stripe {
  if (!config.STRIPE_SECRET_KEY) throw new Error('STRIPE_SECRET_KEY is not set');
  const known = clients.get(egress);
  if (known) return known;
  const base = new URL(config.STRIPE_API_BASE);
  const stripe = new Stripe(config.STRIPE_SECRET_KEY, {
    httpClient: Stripe.createFetchHttpClient(fetchBy(egress)),
    host: base.hostname,
    port: base.port || (base.protocol === 'http:' ? 80 : 443),
    protocol: base.protocol === 'http:' ? 'http' : 'https',
    maxNetworkRetries: 0,
    timeout: STRIPE_TIMEOUT_MS,
    telemetry: false,
  });
  clients.set(egress, stripe);
  return stripe;
}

/**
 * Implements the part of `fetch` that Stripe's client uses, with the egress module. URLs and bodies must be strings.
 */
function fetchBy(egress: Egress): typeof fetch {
  return async (target, init) => {
    const headers = Object.fromEntries([...new Headers(init?.headers)].filter(([name]) => !OWN_HEADERS.test(name)));
    const answer = await egress.request({
      method: (init?.method ?? 'GET') as 'GET' | 'POST' | 'DELETE',
      url: target as string,
      headers,
      ...(init?.body ? { body: init.body as string } : {}),
      timeoutMs: STRIPE_TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
      ...(init?.signal ? { signal: init.signal } : {}),
    });
    if (answer.truncated) throw new Error('the answer of the payment provider is too large');
    const given = new Headers();
    for (const [name, value] of Object.entries(answer.headers))
      for (const one of [value ?? []].flat()) given.append(name, one);
    const empty = answer.status === 204 || answer.status === 304;
    return new Response(empty ? null : new Uint8Array(answer.body), { status: answer.status, headers: given });
  };
}

/** A refusal by the payment provider, which would refuse the same request again. */
export interface StripeRefusal {
  /** The provider's code, such as card_declined or charge_disputed. */
  code: string;
  /** The reason: the provider's text without personal or card data, or a message of Heron. */
  reason: string | Message;
}

/**
 * Returns the content of a permanent refusal. Returns undefined for a failure that can be retried: no response, too
 * many requests, or a concurrent request with the same key. Also returns undefined for a rejected API key, because an
 * operator can fix it.
 */
export function refusalOf(error: unknown): StripeRefusal | undefined {
  if (!(error instanceof Stripe.errors.StripeError) || error.statusCode === 409) return undefined;
  const refused =
    error instanceof Stripe.errors.StripeCardError ||
    error instanceof Stripe.errors.StripeInvalidRequestError ||
    error instanceof Stripe.errors.StripeIdempotencyError;
  if (!refused) return undefined;
  return { code: error.decline_code || error.code || error.type, reason: error.message.slice(0, 300) };
}

/** Returns the id of a Stripe object, which Stripe returns as an object or as its id; null if there is none. */
export function idOf(given: string | { id: string } | null | undefined): string | null {
  return typeof given === 'string' ? given : (given?.id ?? null);
}
