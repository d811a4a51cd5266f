import { hmac, safeEqual } from '../../../lib/crypto.ts';

/** Purpose of a tracking URL. A token is valid only for its purpose. */
type TokenPurpose = 'open' | 'click' | 'unsubscribe' | 'weekly-report';

const MAC_BYTES = 16;

/**
 * Returns the token of a tracking URL: the id in 22 characters and a 128-bit HMAC. Ids of sends also appear in
 * Message-IDs, which other people than the recipient can read, so an id without its HMAC is rejected.
 */
export function trackingToken(secret: Buffer | string, purpose: TokenPurpose, id: string): string {
  return Buffer.from(id.replace(/-/g, ''), 'hex').toString('base64url') + mac(secret, purpose, id);
}

/** Length (characters) of a token. */
export const TRACKING_TOKEN_LENGTH = 44;

/** Returns the id in a token. Undefined if the token was not created for this purpose with one of these secrets. */
export function readTrackingToken(
  secrets: readonly (Buffer | string)[],
  purpose: TokenPurpose,
  token: string,
): string | undefined {
  if (!/^[A-Za-z0-9_-]{44}$/.test(token)) return undefined;
  const hex = Buffer.from(token.slice(0, 22), 'base64url').toString('hex');
  if (hex.length !== 32) return undefined;
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  return secrets.some((secret) => safeEqual(token.slice(22), mac(secret, purpose, id))) ? id : undefined;
}

function mac(secret: Buffer | string, purpose: TokenPurpose, id: string): string {
  return hmac(secret, `heron/tracking/${purpose}/${id}`).subarray(0, MAC_BYTES).toString('base64url');
}
