import { createHmac, timingSafeEqual } from 'node:crypto';

/** Maximum difference (seconds) between a signature's time and the receiver's clock, in either direction. */
export const SIGNATURE_TOLERANCE_SECONDS = 300;

/**
 * Returns the X-Service-Signature value of a request: `t=<unix>,v1=<hex>`. v1 is the HMAC-SHA256 of `<t>.<raw body>`,
 * keyed with the whole secret, prefix included. `timestampSeconds` is the Unix time of sending. `rawBody` must be
 * exactly the sent bytes. Used by webhooks and app connections (docs/guides/webhooks.md).
 * @throws RangeError when `timestampSeconds` is not a whole number of seconds
 */
export function signPayload(secret: string, timestampSeconds: number, rawBody: Buffer | string): string {
  if (!Number.isSafeInteger(timestampSeconds) || timestampSeconds < 0) {
    throw new RangeError('The timestamp must be whole Unix seconds.');
  }
  return `t=${timestampSeconds},v1=${digest(secret, String(timestampSeconds), rawBody).toString('hex')}`;
}

/**
 * Returns true if `header` is a valid signature of `rawBody` with `secret`, made within the tolerance of `now`.
 * Receivers make the same check (docs/guides/webhooks.md). Compares in constant time. Ignores schemes other than v1. If
 * v1 occurs several times, as during a rotation of secrets, one match is sufficient. Never throws.
 */
export function verifySignature(
  header: string | undefined,
  secret: string,
  rawBody: Buffer | string,
  { toleranceSeconds = SIGNATURE_TOLERANCE_SECONDS, now }: { toleranceSeconds?: number; now: Date },
): boolean {
  const parts = (header ?? '').split(',').map((part) => part.trim());
  const timestamps = valuesOf(parts, 't');
  const timestamp = timestamps[0];
  if (timestamp === undefined || timestamps.length > 1 || !/^\d{1,12}$/.test(timestamp)) return false;
  // The negated comparison also fails for an invalid date (NaN).
  if (!(Math.abs(now.getTime() / 1000 - Number(timestamp)) <= toleranceSeconds)) return false;
  const expected = digest(secret, timestamp, rawBody);
  return valuesOf(parts, 'v1')
    .filter((candidate) => /^[0-9a-f]{64}$/.test(candidate))
    .some((candidate) => timingSafeEqual(Buffer.from(candidate, 'hex'), expected));
}

function valuesOf(parts: readonly string[], scheme: string): string[] {
  return parts.filter((part) => part.startsWith(`${scheme}=`)).map((part) => part.slice(scheme.length + 1));
}

function digest(secret: string, timestamp: string, rawBody: Buffer | string): Buffer {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody).digest();
}
