import { randomBytes } from 'node:crypto';
import type { Config } from '../../lib/config/index.ts';
import { hmac, safeEqual } from '../../lib/crypto.ts';

const ID_BYTES = 16;
const RANDOM_BYTES = 32;
const MAC_BYTES = 16;

type Secret = Pick<Config, 'AUTH_SECRET'>;

/**
 * Holder of a renewal token: an API client (refresh token) or a browser (cookie value). The token is not valid for the
 * other kind of holder.
 */
export type TokenHolder = 'client' | 'browser';

/**
 * Returns a secret that renews a session: the session's id, 256 random bits, and a keyed hash. The hash proves that the
 * token was issued for its session, even if it was replaced many renewals ago. Therefore nobody can end another
 * person's session with a forged old token.
 * @param random 32 bytes. Default: random bytes
 */
export function newRenewalToken(
  config: Secret,
  keeper: TokenHolder,
  sessionId: string,
  random: Uint8Array = randomBytes(RANDOM_BYTES),
): string {
  const issued = Buffer.concat([Buffer.from(sessionId.replaceAll('-', ''), 'hex'), random]);
  return Buffer.concat([issued, macOf(config, keeper, issued)]).toString('base64url');
}

/**
 * Returns the session for which a token of this kind was issued, even if the session has ended or the token was
 * replaced. Undefined for any other text.
 */
export function sessionOfToken(config: Secret, keeper: TokenHolder, token: string): string | undefined {
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

function macOf({ AUTH_SECRET }: Secret, keeper: TokenHolder, issued: Buffer): Buffer {
  return hmac(AUTH_SECRET, Buffer.concat([Buffer.from(`renewal/${keeper}/`), issued])).subarray(0, MAC_BYTES);
}
