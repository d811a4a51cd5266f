import type { Context } from 'koa';
import { ANONYMOUS, MAX_USER_AGENT, type Actor } from '../../domain/platform/kernel/actor.ts';
import { needsCredential, refusedCredential } from './challenge.ts';
import type { GuardParts } from './guard-parts.ts';
import { countKeyRequest } from './rate-limit.ts';
import type { AnyRoute } from './route.ts';

/**
 * Resolves the caller of a route from the credential of the request.
 * @throws AppError unauthorized (401) without a valid credential; forbidden when a key may not be used from this
 * address; rate_limit_exceeded when the key exceeds its rate
 */
export async function authenticateCaller(
  spec: AnyRoute,
  { deps, actors, limiter }: GuardParts,
  koa: Context,
): Promise<Actor> {
  const origin = { ipAddress: koa.ip, userAgent: koa.get('user-agent').slice(0, MAX_USER_AGENT) };
  if (spec.scope === 'public') return { ...ANONYMOUS, ...origin };
  const header = koa.get('authorization');
  if (!/^Bearer \S/i.test(header)) throw needsCredential(spec, deps.config);
  const rememberKey = (actor: Actor) => {
    koa.state.apiKeyId = actor.apiKeyId;
  };
  const caller = await actors.resolve(header.slice(7).trim(), origin, rememberKey).catch((error: unknown) => {
    throw refusedCredential(spec, deps.config, error);
  });
  await countKeyRequest(limiter, caller, koa.state.reportQuota);
  return caller.actor;
}
