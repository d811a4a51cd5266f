import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Only account of an AWS stub. */
interface AwsAccount {
  id: string;
  secret: string;
  region: string;
  service: string;
}

/** Maximum difference (ms) between a signature's time and now. */
const FRESH_MS = 300_000;

/**
 * Checks the signature of a request (AWS Signature Version 4), written from its specification. Returns the reason of a
 * refusal; undefined if it is valid.
 */
export function refusalOfSignature(request: IncomingMessage, body: Buffer, account: AwsAccount): string | undefined {
  const header = request.headers.authorization ?? '';
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      header,
    );
  if (!parts) return 'MissingAuthenticationTokenException';
  const [, id, day, region, service, signed, signature] = parts as unknown as string[];
  const moment = String(request.headers['x-amz-date']);
  const at = Date.parse(moment.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (id !== account.id) return 'UnrecognizedClientException';
  if (region !== account.region || service !== account.service || !moment.startsWith(day!))
    return 'SignatureDoesNotMatch';
  if (!(Math.abs(Date.now() - at) < FRESH_MS)) return 'RequestExpired';
  const names = signed!.split(';');
  if (!names.includes('host')) return 'SignatureDoesNotMatch';
  const { pathname, searchParams } = new URL(request.url!, 'http://double');
  const query = [...searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort();
  const canonical = [
    request.method,
    pathname
      .split('/')
      .map((part) => encode(decodeURIComponent(part)))
      .join('/'),
    query.join('&'),
    ...names.map((name) => `${name}:${String(request.headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    signed,
    hash(body),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', moment, scope, hash(canonical)].join('\n');
  const key = [day!, region!, service!, 'aws4_request'].reduce<Buffer | string>(sign, `AWS4${account.secret}`);
  const expected = sign(key, text);
  return timingSafeEqual(expected, Buffer.from(signature!, 'hex')) ? undefined : 'SignatureDoesNotMatch';
}

const hash = (value: Buffer | string): string => createHash('sha256').update(value).digest('hex');
const sign = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
