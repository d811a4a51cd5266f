import { jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../../lib/clock.ts';
import type { Config } from '../../lib/config/index.ts';

/** Lifetime (seconds) of a session's access token. */
const ACCESS_TOKEN_SECONDS = 15 * 60;
const ISSUER = 'heron';

const AUDIENCE = 'heron-session';

interface SignedSessionToken {
  token: string;
  expiresAt: Date;
}

/**
 * Signs a token of a session (HS256 over AUTH_SECRET). It contains only the session id. The rights are read from
 * PostgreSQL for each request.
 */
export async function signSessionToken(
  config: Config,
  clock: Clock,
  session: { id: string; userId: string },
): Promise<SignedSessionToken> {
  const now = Math.floor(clock.now().getTime() / 1000);
  const token = await new SignJWT({ sid: session.id })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(session.userId)
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt(now)
    .setExpirationTime(now + ACCESS_TOKEN_SECONDS)
    .sign(Buffer.from(config.AUTH_SECRET));
  return { token, expiresAt: new Date((now + ACCESS_TOKEN_SECONDS) * 1000) };
}

/** Returns the session id in a token, or undefined if the signature, issuer, audience or expiry is wrong. */
export async function verifySessionToken(config: Config, clock: Clock, token: string): Promise<string | undefined> {
  try {
    const { payload } = await jwtVerify(token, Buffer.from(config.AUTH_SECRET), {
      issuer: ISSUER,
      audience: AUDIENCE,
      algorithms: ['HS256'],
      currentDate: clock.now(),
    });
    return typeof payload.sid === 'string' ? payload.sid : undefined;
  } catch {
    return undefined;
  }
}
