import type { Actor } from '../kernel/actor.ts';
import type { Deps } from '../kernel/context.ts';
import { sessionCaller, type Origin } from './resolve-actor.ts';
import { SESSION_MS, type TokenPair } from './sessions.ts';
import { signSessionToken, verifySessionToken } from './session-token.ts';

type Needs = Pick<Deps, 'db' | 'clock' | 'config'>;

/**
 * What a browser keeps of a sign-in instead of its tokens: the value of a cookie, which is valid for the pages
 * of this server only. The session is listed, and can be ended, like every other. It is not refreshed: it is
 * valid for {@link SESSION_MS} from the sign-in.
 */
export async function browserSession(
  { config, clock }: Needs,
  { sessionId, userId }: TokenPair,
): Promise<{ value: string; maxAgeMs: number }> {
  const { token } = await signSessionToken(config, clock, { id: sessionId, userId }, 'browser', SESSION_MS / 1000);
  return { value: token, maxAgeMs: SESSION_MS };
}

/** The person of a browser's cookie; null when it was never issued, or its session has ended. */
export async function browserActor(deps: Needs, value: string, origin: Origin): Promise<Actor | null> {
  const id = await verifySessionToken(deps.config, deps.clock, value, 'browser');
  const caller = id === undefined ? null : await sessionCaller(deps, id);
  if (!caller || (caller.expiresAt && caller.expiresAt <= deps.clock.now())) return null;
  return { ...caller.actor, ...origin };
}
