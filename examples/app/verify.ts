import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Returns true if a request comes from Heron: X-Service-Signature is `t=<unix seconds>,v1=<hex>`, the HMAC-SHA256 of
 * the time, a dot and the raw body, keyed with the connection's secret. The function has no dependency on Heron, so it
 * can be copied.
 * @param rawBody bytes as received, before parsing
 * @param toleranceSeconds maximum age of a request, against replays
 */
export function isFromHeron(
  header: string | undefined,
  secret: string,
  rawBody: Buffer,
  toleranceSeconds = 300,
): boolean {
  const parts = (header ?? '').split(',').map((part) => part.trim().split('='));
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  if (!/^\d{1,12}$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > toleranceSeconds) return false;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(rawBody).digest();
  return parts.some(([name, value = '']) => {
    const given = name === 'v1' && /^[0-9a-f]{64}$/.test(value) ? Buffer.from(value, 'hex') : undefined;
    return given !== undefined && timingSafeEqual(given, expected);
  });
}
