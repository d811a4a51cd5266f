import { z } from 'zod';
import type { Config } from '../../../lib/config/index.ts';
import { EgressError, type Egress, type EgressResponse } from '../../../lib/egress/index.ts';
import { AppError } from '../../../lib/errors.ts';
import { signPayload } from '../../../lib/signature.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { ProviderRefusal, ProviderUnreachable, type MailboxProvider, type StepKey } from './ports.ts';
import { message } from '../../../messages/index.ts';

const MAX_ANSWER_BYTES = 256 * 1024;
/**
 * HTTP statuses that are retried. They mean wrong credentials or a wrong clock, which an operator must fix, or that the
 * provider is busy or still handles the same call.
 */
const PASSING = new Set([401, 403, 408, 409, 425, 429]);

const text = z.string().min(1).max(300);
const cents = z.int().min(0).max(100_000_000);
const currency = z
  .string()
  .regex(/^[a-zA-Z]{3}$/)
  .transform((code) => code.toLowerCase());
const moment = z.iso.datetime({ offset: true }).transform((value) => new Date(value));
const service = z.object({
  host: text,
  port: z.int().min(1).max(65_535),
  security: z.enum(['tls', 'starttls', 'none']),
  username: text,
  password: text,
});
const ANSWERS = {
  catalogue: z.object({
    offers: z.array(
      z.object({
        provider: z.string().regex(/^[a-z0-9_-]{1,40}$/),
        name: text,
        currency,
        mailbox_monthly_cents: cents,
        warmup_monthly_cents: cents,
        max_mailboxes: z.int().min(1),
      }),
    ),
  }),
  'domains/check': z.object({
    available: z.boolean(),
    registration_cents: cents,
    renewal_cents: cents,
    currency,
  }),
  'domains/register': z.object({ ref: text, registered_at: moment, expires_at: moment }),
  'domains/dns': z.object({ status: text }),
  'domains/release': z.object({}),
  'domains/renew': z.object({ expires_at: moment, paid_cents: cents, currency }),
  'mailboxes/create': z.object({ ref: text, status: text, smtp: service, imap: service }),
  'mailboxes/warmup': z.object({ status: text }),
  'mailboxes/retire': z.object({}),
};
type Operation = keyof typeof ANSWERS;

/**
 * Returns true if this installation offers managed mailboxes: a mailbox provider and a payment provider are configured.
 */
function offersMailboxes(config: Config): boolean {
  return Boolean(config.PROVISIONING_URL && config.PROVISIONING_SECRET && config.STRIPE_SECRET_KEY);
}

/**
 * Returns the configured provider of managed mailboxes.
 * @throws AppError mailbox_provisioning_unavailable if none is configured
 */
export function mailboxProvider({ config, egress, clock }: Pick<Ctx, 'config' | 'egress' | 'clock'>): MailboxProvider {
  if (!offersMailboxes(config))
    throw new AppError('mailbox_provisioning_unavailable', message('order.not_offered'), {
      fix: message('order.not_offered.fix'),
    });
  const asking: Asking = {
    egress,
    url: config.PROVISIONING_URL!,
    secret: config.PROVISIONING_SECRET!,
    timeoutMs: config.PROVISIONING_TIMEOUT_MS,
    now: () => clock.now(),
  };
  return httpProvider(asking);
}

/** Dependencies and settings of the requests to the provider. */
interface Asking {
  egress: Egress;
  /** Base URL of the provider's operations. */
  url: string;
  secret: string;
  timeoutMs: number;
  now(): Date;
}

/** Creates a client for the protocol of docs/guides/mailbox-orders.md. */
function httpProvider(asking: Asking): MailboxProvider {
  const ask = <Name extends Operation>(
    operation: Name,
    body: Record<string, unknown>,
    key?: StepKey,
  ): Promise<z.output<(typeof ANSWERS)[Name]>> => request(asking, operation, body, key);
  return {
    async catalogue() {
      const { offers } = await ask('catalogue', {});
      return offers.map((offer) => ({
        provider: offer.provider,
        name: offer.name,
        currency: offer.currency,
        mailboxMonthlyCents: offer.mailbox_monthly_cents,
        warmupMonthlyCents: offer.warmup_monthly_cents,
        maxMailboxes: offer.max_mailboxes,
      }));
    },
    async checkDomain(domain) {
      const answer = await ask('domains/check', { domain });
      return {
        available: answer.available,
        registrationCents: answer.registration_cents,
        renewalCents: answer.renewal_cents,
        currency: answer.currency,
      };
    },
    async registerDomain(key, domain) {
      const answer = await ask('domains/register', { domain }, key);
      return { ref: answer.ref, registeredAt: answer.registered_at, expiresAt: answer.expires_at };
    },
    createMailbox: (key, { provider, domain, email, firstName, lastName }) =>
      ask('mailboxes/create', { provider, domain, email, first_name: firstName, last_name: lastName }, key),
    setDns: (key, domain) => ask('domains/dns', { domain }, key),
    switchWarmup: (key, { ref, enabled }) => ask('mailboxes/warmup', { ref, enabled }, key),
    async retireMailbox(key, { madeBy, ref }) {
      await ask('mailboxes/retire', { made_by: madeBy, ref }, key);
    },
    async releaseDomain(key, { madeBy, ref }) {
      await ask('domains/release', { made_by: madeBy, ref }, key);
    },
    async renewDomain(key, { ref, domain, maxCents }) {
      const answer = await ask('domains/renew', { ref, domain, max_cents: maxCents }, key);
      return { expiresAt: answer.expires_at, paidCents: answer.paid_cents, currency: answer.currency };
    },
  };
}

async function request<Name extends Operation>(
  { egress, url, secret, timeoutMs, now }: Asking,
  operation: Name,
  body: Record<string, unknown>,
  key: StepKey | undefined,
): Promise<z.output<(typeof ANSWERS)[Name]>> {
  // Includes the operation and the idempotency key in the signed text, so that a recorded request cannot be reused for
  // another operation.
  const raw = JSON.stringify({ operation, ...(key ? { idempotency_key: key } : {}), ...body });
  const response = await egress
    .request({
      method: 'POST',
      url: `${url}/${operation}`,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'x-service-signature': signPayload(secret, Math.floor(now().getTime() / 1000), raw),
        ...(key ? { 'idempotency-key': key } : {}),
      },
      body: raw,
      timeoutMs,
      maxResponseBytes: MAX_ANSWER_BYTES,
    })
    .catch((error: unknown) => {
      if (error instanceof EgressError) throw new ProviderUnreachable(`no answer to ${operation}: ${error.kind}`);
      throw error;
    });
  const answer = parsed(response.body);
  const { status } = response;
  if (status >= 400 && status < 500 && !PASSING.has(status)) throw refusal(answer, status);
  const sound = status >= 200 && status < 300 ? ANSWERS[operation].safeParse(answer) : undefined;
  if (sound?.success) return sound.data as z.output<(typeof ANSWERS)[Name]>;
  const what = sound ? 'an answer that does not fit' : `status ${status}`;
  throw new ProviderUnreachable(`${operation}: ${what}`, retryAfterMs(response));
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Parses a refusal. Code and message come from the provider, so unusual characters are removed. */
function refusal(answer: unknown, status: number): ProviderRefusal {
  const error = z.object({ error: z.object({ code: z.string(), message: z.string() }) }).safeParse(answer);
  const { code = `http_${status}`, message = 'refused' } = error.data?.error ?? {};
  const known = /^[a-z][a-z0-9_]{0,59}$/.test(code) ? code : `http_${status}`;
  return new ProviderRefusal(known, message.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, 200));
}

function retryAfterMs({ headers }: EgressResponse): number | undefined {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3_600) * 1000 : undefined;
}
