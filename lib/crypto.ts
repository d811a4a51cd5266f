import { createHash, createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { hash as argonHash, verify as argonVerify } from '@node-rs/argon2';

/** Prefixes of issued secrets, by kind. */
export const SECRET_PREFIX = {
  apiKey: 'ssk_',
  /** Prefix of an API key of a test workspace. It begins with the prefix of other keys. */
  testApiKey: 'ssk_test_',
  clientId: 'sscid_',
  clientSecret: 'sscs_',
  authorizationCode: 'ssac_',
  accessToken: 'ssat_',
  refreshToken: 'ssrt_',
  webhook: 'whsec_',
  challenge: 'whcg_',
  app: 'ss_app_',
} as const;

/** Returns a new random 256-bit secret as `prefix` + base64url. Store only its {@link sha256}. */
export function newSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url');
}

/** Returns SHA-256 as lower-case hex, the form in which random secrets are stored and looked up. */
export function sha256(value: string | Buffer): string {
  return hash('sha256', value, 'hex');
}

/** Returns the S256 code challenge of a verifier (RFC 7636, section 4.2). */
export function codeChallenge(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

/** Returns HMAC-SHA256 of `message` as raw bytes. */
export function hmac(key: string | Buffer, message: string | Buffer): Buffer {
  return createHmac('sha256', key).update(message).digest();
}

/** Compares two strings in constant time. */
export function safeEqual(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}

/** Returns a uniformly random numeric one-time code of `digits` digits. */
export function newCode(digits = 6): string {
  const limit = 10 ** digits;
  const ceiling = Math.floor(0x1_0000_0000 / limit) * limit;
  for (;;) {
    const candidate = randomBytes(4).readUInt32BE();
    if (candidate < ceiling) return String(candidate % limit).padStart(digits, '0');
  }
}

/** Hashes a password with argon2id. */
export function hashPassword(password: string): Promise<string> {
  return argonHash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
}

/** Returns true if a password matches a stored argon2id hash. Returns false for a malformed hash. */
export async function verifyPassword(hash: string, password: string): Promise<boolean> {
  try {
    return await argonVerify(hash, password);
  } catch {
    return false;
  }
}
