import { createHmac, timingSafeEqual } from 'node:crypto';

/** How far a signature's time may be from the receiver's clock, in seconds, in either direction. */
export const SIGNATURE_TOLERANCE_SECONDS = 300;

/**
 * The value of X-Service-Signature for a request: `t=<unix>,v1=<hex>`, where v1 is the HMAC-SHA256 of
 * `<t>.<raw body>` keyed with the whole secret, prefix included. `timestampSeconds` is Unix time at sending;
 * `rawBody` must be the very bytes that are sent. Webhooks and app connections both use it
 * (docs/guides/webhooks.md).
 *
 * @throws RangeError when `timestampSeconds` is not a whole number of seconds
 */
export function signPayload(secret: string, timestampSeconds: number, rawBody: Buffer | string): string {
  if (!Number.isSafeInteger(timestampSeconds) || timestampSeconds < 0) {
    throw new RangeError('The timestamp must be whole Unix seconds.');
  }
  return `t=${timestampSeconds},v1=${digest(secret, String(timestampSeconds), rawBody).toString('hex')}`;
}

/**
 * Whether `header` is a signature of `rawBody` under `secret` made within the tolerance of `now`: what receivers
 * do (docs/guides/webhooks.md). Compares in constant time. Schemes other than v1 are ignored; when v1 occurs
 * several times, as while secrets rotate, one that matches is enough. Never throws.
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
  // Written so that an invalid date fails.
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
