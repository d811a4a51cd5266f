import { randomBytes } from 'node:crypto';
import type { Config } from '../../lib/config/index.ts';
import { hmac, safeEqual } from '../../lib/crypto.ts';

const ID_BYTES = 16;
const RANDOM_BYTES = 32;
const MAC_BYTES = 16;

type Secret = Pick<Config, 'AUTH_SECRET'>;

/** What keeps a token: a client of the API as its refresh token, or a browser as the value of a cookie. Neither is any use as the other. */
export type TokenKeeper = 'client' | 'browser';

/**
 * A secret that renews a session: 256 random bits, the session's id before them, and behind both a keyed hash. By it one that was replaced any
 * number of renewals ago is still known to have been issued for its session, and nobody can make one up to end the session of somebody else.
 * @param random 32 bytes; new ones unless given
 */
export function newRenewalToken(
  config: Secret,
  keeper: TokenKeeper,
  sessionId: string,
  random: Uint8Array = randomBytes(RANDOM_BYTES),
): string {
  const issued = Buffer.concat([Buffer.from(sessionId.replaceAll('-', ''), 'hex'), random]);
  return Buffer.concat([issued, macOf(config, keeper, issued)]).toString('base64url');
}

/** The session that a token of this keeper was issued for, at whatever time; undefined for anything else. */
export function sessionOfToken(config: Secret, keeper: TokenKeeper, token: string): string | undefined {
  const bytes = Buffer.from(token.slice(0, 200), 'base64url');
  if (bytes.length !== ID_BYTES + RANDOM_BYTES + MAC_BYTES) return undefined;
  const issued = bytes.subarray(0, -MAC_BYTES);
  if (!safeEqual(bytes.subarray(-MAC_BYTES).toString('hex'), macOf(config, keeper, issued).toString('hex')))
    return undefined;
  return issued
    .subarray(0, ID_BYTES)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function macOf({ AUTH_SECRET }: Secret, keeper: TokenKeeper, issued: Buffer): Buffer {
  return hmac(AUTH_SECRET, Buffer.concat([Buffer.from(`renewal/${keeper}/`), issued])).subarray(0, MAC_BYTES);
}
