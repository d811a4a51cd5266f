import type { Caller } from '../../domain/identity/resolve-actor.ts';
import { tooManyRequests } from '../../lib/errors.ts';
import type { RateLimiter } from '../../lib/rate-limit.ts';
import { message, type Message } from '../../messages/index.ts';

/**
 * Counts one request of an API key, an application's grant or a session.
 * @throws AppError rate_limit_exceeded with Retry-After in whole seconds
 */
export async function countKeyRequest(limiter: RateLimiter, { rate }: Pick<Caller, 'rate'>): Promise<void> {
  if (rate) await count(limiter, rate.key, rate.perMinute, message('request.limit_credential'));
}

/**
 * Counts one write of an organization, over all its callers.
 * @throws AppError rate_limit_exceeded with Retry-After in whole seconds
 */
export async function countWrite(limiter: RateLimiter, organizationId: string, perMinute: number): Promise<void> {
  await count(limiter, `org/${organizationId}`, perMinute, message('request.limit_writes'));
}

async function count(limiter: RateLimiter, key: string, perMinute: number, what: Message): Promise<void> {
  const waitMs = await limiter.take(key, perMinute);
  if (waitMs > 0) throw tooManyRequests(waitMs, what);
}
