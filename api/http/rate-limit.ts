import type { Context } from 'koa';
import type { Caller } from '../../domain/identity/resolve-actor.ts';
import type { Actor } from '../../domain/platform/kernel/actor.ts';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { tooManyRequests } from '../../lib/errors.ts';
import { WINDOW_MS, type Quota, type RateLimiter } from '../../lib/rate-limit.ts';
import { message, type Message } from '../../messages/index.ts';

/** Receives each limit against which a request is counted. */
type Report = NonNullable<Ctx['reportQuota']>;

/**
 * Counts one request of an API key, an application's grant or a session.
 * @throws AppError rate_limit_exceeded with Retry-After in whole seconds
 */
export async function countKeyRequest(
  limiter: RateLimiter,
  { rate }: Pick<Caller, 'rate'>,
  report?: Report,
): Promise<void> {
  if (rate) await count(limiter, { ...rate, policy: 'requests' }, message('request.limit_credential'), report);
}

/**
 * Counts one write of an organization. Its people share one count, and its keys and applications another, so that a
 * busy program does not keep a person from stopping it.
 * @throws AppError rate_limit_exceeded with Retry-After in whole seconds
 */
export async function countWrite(
  limiter: RateLimiter,
  { organizationId, kind }: Pick<Actor, 'organizationId' | 'kind'>,
  perMinute: number,
  report?: Report,
): Promise<void> {
  const key = `org/${organizationId}/${kind === 'session' ? 'people' : 'credentials'}`;
  await count(limiter, { key, perMinute, policy: 'writes' }, message('request.limit_writes'), report);
}

async function count(
  limiter: RateLimiter,
  { key, perMinute, policy }: { key: string; perMinute: number; policy: string },
  what: Message,
  report?: Report,
): Promise<void> {
  const { waitMs, remaining, resetMs } = await limiter.take(key, perMinute);
  if (perMinute > 0) report?.({ policy, limit: perMinute, windowMs: WINDOW_MS, remaining, resetMs });
  if (waitMs > 0) throw tooManyRequests(waitMs, what);
}

/**
 * Returns a function that adds a limit to the RateLimit-Policy and RateLimit headers of the answer
 * (draft-ietf-httpapi-ratelimit-headers-11). If a request is counted twice against a limit, the header has the last
 * state.
 */
export function quotaReport(koa: Context): Report {
  const quotas = new Map<string, Quota>();
  return (quota) => {
    quotas.set(quota.policy, quota);
    const all = [...quotas.values()];
    koa.set(
      'RateLimit-Policy',
      all.map(({ policy, limit, windowMs }) => `"${policy}";q=${limit};w=${Math.ceil(windowMs / 1000)}`).join(', '),
    );
    koa.set(
      'RateLimit',
      all
        .map(({ policy, remaining, resetMs }) => `"${policy}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`)
        .join(', '),
    );
  };
}
