import { across } from '../../db/across.ts';
import type { Columns } from '../../db/rows.ts';
import { hmac } from '../../lib/crypto.ts';
import type { Actor } from '../platform/kernel/actor.ts';
import type { Ctx, Deps } from '../platform/kernel/context.ts';
import { newRenewalToken } from './renewal-token.ts';
import { sessionCaller, type Origin } from './resolve-actor.ts';
import { refreshSession, SESSION_MS, type TokenPair } from './sessions.ts';

type Needs = Pick<Deps, 'db' | 'config'>;

/**
 * Time (ms) for which the previous cookie value stays valid after a renewal. Two tabs may renew concurrently, and a
 * response with a new cookie may be lost. A later use of the previous value ends the session.
 */
const GRACE_MS = 60_000;

/**
 * Starts a browser session: a renewal token as the value of a cookie that scripts cannot read. It is not a refresh
 * token of the API. The session is listed and can be ended like every other session. It is valid for {@link SESSION_MS}
 * after its last renewal.
 */
export async function browserSession(
  { db, config }: Needs,
  { sessionId }: Pick<TokenPair, 'sessionId'>,
): Promise<{ value: string; maxAgeMs: number }> {
  const value = newRenewalToken(config, 'browser', sessionId);
  await across(db, 'person')
    .table('sessions')
    .where('id', sessionId)
    .update({ refresh_hash: hashOf(config, value) });
  return { value, maxAgeMs: SESSION_MS };
}

/**
 * Returns the person to whom a browser's cookie belongs. Returns null if the value was never issued, was replaced more
 * than {@link GRACE_MS} ago, or belongs to an ended session.
 */
export async function browserActor(
  deps: Needs & Pick<Deps, 'clock'>,
  value: string,
  origin: Origin,
): Promise<Actor | null> {
  const now = deps.clock.now();
  const [session] = await across(deps.db, 'credential').sql<Columns<'sessions', 'id'>>(
    `select id from sessions
     where revoked_at is null and expires_at > :now
       and (refresh_hash = :hash or (previous_refresh_hash = :hash and last_active_at > :since))`,
    { hash: hashOf(deps.config, value), now, since: new Date(now.getTime() - GRACE_MS) },
  );
  const caller = session && (await sessionCaller(deps, session.id));
  return caller ? { ...caller.actor, ...origin } : null;
}

/**
 * Renews a browser's session: a short access token for its scripts, and a new cookie value.
 * @throws AppError unauthorized without an open session. A value that was replaced more than {@link GRACE_MS} ago also
 * ends its session
 */
export async function renewBrowserSession(
  ctx: Ctx,
  value: string,
): Promise<{ tokens: TokenPair; value: string; maxAgeMs: number }> {
  const tokens = await refreshSession(ctx, value, {
    keeper: 'browser',
    graceMs: GRACE_MS,
    hash: (token) => hashOf(ctx.config, token),
    successor: (token, sessionId) =>
      newRenewalToken(ctx.config, 'browser', sessionId, hmac(browserSecret(ctx.config), `browser-successor/${token}`)),
  });
  return { tokens, value: tokens.refreshToken, maxAgeMs: SESSION_MS };
}

/** Uses a keyed hash, so that a cookie value cannot be used as a refresh token. */
function hashOf(config: Pick<Deps, 'config'>['config'], value: string): string {
  return hmac(browserSecret(config), `browser/${value}`).toString('base64url');
}

/** Returns the secret that keys the cookies and form tokens of browsers. */
export function browserSecret({ SECRET_KEY_BASE, AUTH_SECRET }: Deps['config']): string {
  return SECRET_KEY_BASE ?? AUTH_SECRET;
}
