import { DateTime } from 'luxon';
import type { AddressObject } from 'mailparser';
import { asciiAddress } from '../../../lib/address.ts';
import { ANSWER_HEADERS, messageIdsIn } from './fields.ts';
import { formOf } from './forms.ts';
import type { Form } from './forms.ts';
import { htmlToPlain, MAX_HTML } from './html-text.ts';
import type { MimeMessage } from './mime.ts';

/** Maximum length (characters) of a message's stored body text. */
export const MAX_TEXT = 64 * 1024;
const MAX_RAW = 16 * 1024 * 1024;
const MAX_REPORT_PART = 64 * 1024;
const MAX_REPORT_PARTS = 10;
const MAX_HEADER_VALUE = 1000;
/** Maximum number of stored files per message. */
const MAX_FILES = 25;
/** Maximum length (characters) of a file name. */
const MAX_FILE_NAME = 200;
/**
 * Maximum number of lines read of a message. 16 MiB of base64 have less than half as many lines. The MIME parser stores
 * each line separately, and a short line takes a hundred times its size.
 */
const MAX_LINES = 500_000;

const LINE_END = 0x0a;

const STORED_HEADERS: ReadonlySet<string> = new Set([
  'auto-submitted',
  ...ANSWER_HEADERS,
  'x-failed-recipients',
  'x-ms-exchange-generated-message-source',
  'x-ms-exchange-inbox-rules-loop',
  'precedence',
  'x-precedence',
  'list-id',
  'list-unsubscribe',
  'x-mlserver',
  'x-mailman-version',
  'feedback-id',
  'x-spasign',
]);

const REPORT_TYPES: ReadonlySet<string> = new Set([
  'message/delivery-status',
  'message/global-delivery-status',
  'message/disposition-notification',
  'message/global-disposition-notification',
  'message/feedback-report',
  'message/rfc822',
  'message/rfc822-headers',
  'message/global',
  'message/global-headers',
  'text/rfc822',
  'text/rfc822-headers',
]);

/** One machine-readable part of a report, or a returned message: decoded, at most 64 KiB. */
interface ReportPart {
  readonly contentType: string;
  readonly body: string;
}

/**
 * A decoded file of a message. Its name contains no path. Its type is a valid media type or `application/octet-stream`.
 */
export interface InboundFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Buffer;
}

/** Content of an incoming message that the classification needs. Every field is bounded in size. */
export interface InboundMessage {
  /** Message-ID in the normalised form `<local@host>`, like all message ids of this interface. */
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
  /** Message ids, oldest first, without duplicates. */
  readonly references: readonly string[];
  /** Address of the first author, in lower case and with an ASCII domain, like all addresses of this interface. */
  readonly from: string | null;
  /** Addresses of all authors. If From has no address, the Reply-To addresses. */
  readonly authors: readonly string[];
  /** Addresses in Reply-To and Sender, and the original author whose address a mailing list replaced in From. */
  readonly relatedAddresses: readonly string[];
  readonly fromName: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  /** Addresses in Reply-To. */
  readonly replyTo: readonly string[];
  /** Lower-cased envelope sender. Empty for the null sender `<>` of bounces, null if not recorded. */
  readonly returnPath: string | null;
  readonly subject: string;
  /** Date header (UTC). Null if absent or unreadable. */
  readonly date: Date | null;
  /** Plain text body, or the HTML body as text if the plain body is empty. At most 64 KiB. */
  readonly text: string;
  /** Undecoded body of a multipart message, for reports with wrong boundaries or part types. At most 64 KiB. */
  readonly rawBody: string;
  /** HTML body, at most 256 KiB. Null if absent. */
  readonly html: string | null;
  /** The body or bodies that contain the writer's words. With the value `html`, `text` was derived from `html`. */
  readonly form: Form;
  /** Lower-cased media type of the whole message. */
  readonly contentType: string;
  /** Lower-cased `report-type` of a multipart/report. */
  readonly reportType: string | null;
  /** Decoded headers that indicate machine mail, by lower-cased name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly reports: readonly ReportPart[];
  /** The first 25 files, not counting parts of reports. */
  readonly files: readonly InboundFile[];
}

/**
 * Parses a raw message (RFC 5322 and MIME, any charset) into an {@link InboundMessage} for classification. Reads only
 * the first 16 MiB, and of these the first 500,000 lines. If the MIME parser refuses the body (for example because of
 * thousands of parts), only the header block is parsed. Never throws on any bytes.
 */
export async function parseInbound(raw: Buffer): Promise<InboundMessage> {
  // The parser is loaded on demand: most processes read no mail, and loading it takes a tenth of their start time.
  const { parseMime } = await import('./mime.ts');
  const bounded = firstLines(raw.subarray(0, MAX_RAW));
  try {
    const message = describe(await parseMime(bounded));
    if (!message.contentType.startsWith('multipart/')) return message;
    const rawBody = bodyAsText(bounded);
    return { ...message, rawBody, text: isEmptyMultipart(message) ? rawBody : message.text };
  } catch {
    return describe(await parseMime(headerBlock(bounded)));
  }
}

function firstLines(raw: Buffer): Buffer {
  let end = -1;
  for (let lines = 0; lines < MAX_LINES; lines += 1) {
    end = raw.indexOf(LINE_END, end + 1);
    if (end === -1) return raw;
  }
  return raw.subarray(0, end);
}

/**
 * Returns true for a multipart message whose parts the parser could not find. Some mail systems and archives write
 * wrong boundaries.
 */
function isEmptyMultipart({ text, html, reports, files }: InboundMessage): boolean {
  return text.trim() === '' && html === null && reports.length === 0 && files.length === 0;
}

function bodyAsText(raw: Buffer): string {
  const ends = [raw.indexOf('\r\n\r\n'), raw.indexOf('\n\n')].filter((at) => at >= 0);
  if (ends.length === 0) return '';
  const start = Math.min(...ends);
  return raw
    .subarray(start, start + MAX_TEXT)
    .toString('utf8')
    .trim();
}

function headerBlock(raw: Buffer): Buffer {
  const head = raw.subarray(0, MAX_REPORT_PART);
  const end = [head.indexOf('\r\n\r\n'), head.indexOf('\n\n')].filter((at) => at >= 0);
  // Removes the body and renames its Content-Type header, because they made the parser fail.
  const lines = head.subarray(0, end.length > 0 ? Math.min(...end) : head.length).toString('latin1');
  return Buffer.from(`${lines.replace(/^content-type\s*:/gim, 'X-Original-Content-Type:')}\r\n\r\n`, 'latin1');
}

function describe(mail: MimeMessage): InboundMessage {
  const raw = new Map<string, string>();
  for (const { key, line } of mail.headerLines) {
    const value = unfold(line.slice(line.indexOf(':') + 1));
    const first = raw.get(key);
    if (first === undefined) raw.set(key, value);
    else if (key === 'references') raw.set(key, `${first} ${value}`);
  }
  const headers: Record<string, string> = {};
  for (const name of STORED_HEADERS) {
    const value = raw.get(name);
    if (value !== undefined) headers[name] = value.slice(0, MAX_HEADER_VALUE);
  }
  const [contentType, params] = mediaType(mail.headers.get('content-type'));
  const named = addresses(mail.headers.get('from'));
  const related = ['reply-to', 'sender'].flatMap((name) => addresses(mail.headers.get(name)));
  const authors = [named, related].find((list) => list.some(({ address }) => address !== null)) ?? [];
  const author = authors.find(({ address }) => address !== null) ?? named[0];
  const html = mail.html === '' ? null : mail.html.slice(0, MAX_HTML);
  const plain = mail.text.slice(0, MAX_TEXT);
  const form = formOf(plain, html);
  return {
    messageId: messageIdsIn(raw.get('message-id'))[0] ?? null,
    inReplyTo: messageIdsIn(raw.get('in-reply-to'))[0] ?? null,
    references: messageIdsIn(raw.get('references')),
    from: author?.address ?? null,
    authors: authors.flatMap(({ address }) => address ?? []),
    relatedAddresses: [...related, ...addresses(mail.headers.get('x-original-from'))].flatMap(
      ({ address }) => address ?? [],
    ),
    fromName: named[0]?.name || author?.name || '',
    to: plainAddresses(mail.headers.get('to')),
    cc: plainAddresses(mail.headers.get('cc')),
    replyTo: plainAddresses(mail.headers.get('reply-to')),
    returnPath: returnPath(raw.get('return-path')),
    subject: unfold(plainHeader(mail.headers.get('subject'))).slice(0, MAX_HEADER_VALUE),
    date: parseDate(raw.get('date')?.slice(0, 200)),
    text: form === 'html' && html !== null ? htmlToPlain(html) : plain,
    html,
    form,
    rawBody: '',
    contentType,
    reportType: params['report-type']?.toLowerCase() ?? null,
    headers,
    reports: mail.parts
      .filter((part) => REPORT_TYPES.has(part.contentType.toLowerCase()))
      .slice(0, MAX_REPORT_PARTS)
      .map((part) => ({
        contentType: part.contentType.toLowerCase(),
        body: part.content.subarray(0, MAX_REPORT_PART).toString('utf8'),
      })),
    files: mail.parts
      .filter((part) => !REPORT_TYPES.has(part.contentType.toLowerCase()))
      .slice(0, MAX_FILES)
      .map((part, index) => ({
        filename: fileName(part.filename, index),
        contentType: MEDIA_TYPE.test(part.contentType) ? part.contentType.toLowerCase() : 'application/octet-stream',
        bytes: part.content,
      })),
  };
}

const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/;

/**
 * Returns a file name without a path, and without characters that could alter a header, a terminal or the writing
 * direction.
 */
function fileName(name: string | undefined, index: number): string {
  const last = (name ?? '')
    .split(/[/\\]/)
    .at(-1)!
    .slice(0, 2 * MAX_FILE_NAME);
  const plain = last.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}"<>|:*?]+/gu, '_').replace(/^[\s.]+|[\s.]+$/g, '');
  return plain.slice(0, MAX_FILE_NAME) || `file-${index + 1}`;
}

/** Returns the text of an unstructured header, or an empty text if the header is missing. */
function plainHeader(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function unfold(value: string): string {
  return value.replace(/[\r\n]+/g, ' ').trim();
}

function mediaType(header: unknown): [string, Readonly<Record<string, string>>] {
  if (typeof header === 'object' && header !== null && 'value' in header && typeof header.value === 'string') {
    const params = 'params' in header ? (header.params as Record<string, string>) : {};
    return [header.value.toLowerCase(), params];
  }
  return ['text/plain', {}];
}

function addresses(header: unknown): { address: string | null; name: string }[] {
  return ([header ?? []].flat() as AddressObject[])
    .flatMap((list) => list.value ?? [])
    .flatMap((entry) => entry.group ?? [entry])
    .map(({ address, name }) => ({ address: address ? asciiAddress(address.replace(/^mailto:/i, '')) : null, name }))
    .slice(0, 100);
}

function plainAddresses(header: unknown): string[] {
  return addresses(header).flatMap(({ address }) => address ?? []);
}

function returnPath(value: string | undefined): string | null {
  if (value === undefined) return null;
  return asciiAddress((/<([^<>]{0,320})>/.exec(value)?.[1] ?? value).trim()).slice(0, 320);
}

/**
 * Parses RFC 5322 dates and other dates with an explicit offset. Returns null for a date without an offset, because its
 * point in time is unknown.
 */
function parseDate(value: string | undefined): Date | null {
  if (value === undefined) return null;
  const strict = DateTime.fromRFC2822(value);
  if (strict.isValid) return strict.toJSDate();
  if (!/[+-]\d{2}:?\d{2}\b|\b(?:GMT|UTC?)\b|\dZ$/.test(value)) return null;
  const loose = new Date(value);
  return Number.isNaN(loose.getTime()) ? null : loose;
}
