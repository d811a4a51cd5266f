import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SendMailOptions } from 'nodemailer';
import type { Columns } from '../../db/rows.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { sha256 } from '../../lib/crypto.ts';
import type { MessageInput } from '../mail/messages/build.ts';
import { buildFooter } from '../mail/messages/footer.ts';
import { plainToHtml } from '../mail/messages/html.ts';

/** An email as it left, before tracking, with the headers that a person sees. */
interface SentContent {
  from: string;
  fromName: string;
  replyTo: string;
  to: string[];
  cc: string[];
  bcc: string[];
  /** Subject and bodies; of an email that was written here its own row has them. */
  written?: { subject: string; text: string; html: string | null };
}

/** An address as nodemailer takes it. */
interface Address {
  name: string;
  address: string;
}

/** Deflate looks back no further than this (bytes). */
const WINDOW = 32 * 1024;
/** Most bytes that the content of an email has. */
const MAX_CONTENT = 4 * 1024 * 1024;
/** Hexadecimal digits of the name of a copy. */
const NAME_LENGTH = 32;

/** A text that emails are made from, stored once for all of them. */
interface SentCopy {
  /** Its hash. */
  name: string;
  text: string;
}

/** Returns the text that all emails of a step version share: the sources of its text, the signature and the opt-out words. */
export function commonCopy({ step, sender, unsubscribe }: MessageInput): SentCopy {
  const footer = buildFooter(unsubscribe, '');
  const { subject, body_plain: plain, body_html: html } = step;
  const { signaturePlain, signatureHtml } = sender;
  const text = [
    subject,
    plain,
    signaturePlain,
    footer.text,
    html || plainToHtml(plain ?? ''),
    signatureHtml || plainToHtml(signaturePlain ?? ''),
    footer.html,
  ].join('\n');
  return { name: sha256(text).slice(0, NAME_LENGTH), text };
}

/** The headers of a built message that a person sees. */
export function headersOf({
  from,
  to,
  cc,
  bcc,
  replyTo,
}: Pick<SendMailOptions, 'from' | 'to' | 'cc' | 'bcc' | 'replyTo'>): Omit<SentContent, 'written'> {
  const addresses = (value: unknown) => [value ?? []].flat().map((one) => (one as Address).address);
  const sender = from as Address;
  return {
    from: sender.address,
    fromName: sender.name,
    replyTo: addresses(replyTo)[0] ?? '',
    to: addresses(to),
    cc: addresses(cc),
    bcc: addresses(bcc),
  };
}

/** The bytes of a content: what it does not have in common with the copy it was made from. */
function packContent(content: SentContent, copy: SentCopy | null): Buffer {
  return deflateRawSync(JSON.stringify(content), copy ? { dictionary: dictionaryOf(copy.text) } : {});
}

function unpackContent(packed: Buffer, copy: string | null): SentContent {
  const options = { maxOutputLength: MAX_CONTENT, ...(copy === null ? {} : { dictionary: dictionaryOf(copy) }) };
  return JSON.parse(inflateRawSync(packed, options).toString('utf8')) as SentContent;
}

/** JSON escapes line ends and quotes, so the dictionary has them as the content will. */
function dictionaryOf(text: string): Buffer {
  return Buffer.from(JSON.stringify(text)).subarray(-WINDOW);
}

/**
 * Emails as they left, by the id of their send. Those that were erased, or whose time of keeping has passed, are missing.
 */
export async function readSentContents(org: OrgScope, sendIds: readonly string[]): Promise<Map<string, SentContent>> {
  if (sendIds.length === 0) return new Map();
  const rows = await org.sql<Columns<'sent_contents', 'send_id' | 'packed'> & { copy: string | null }>(
    `select e.send_id, e.packed, c.content as copy from sent_contents e
       left join sent_copies c on c.organization_id = e.organization_id and c.name = e.copy_name
     where e.organization_id = :org and e.send_id = any(cast(:ids as uuid[]))`,
    { ids: [...sendIds] },
  );
  return new Map(rows.map(({ send_id: id, packed, copy }) => [id, unpackContent(packed, copy)]));
}

/** CTE that stores the content of the email `:send` with {@link keptBindings}; for the statement that claims it. */
export const KEEP_CONTENT = `common as (
       insert into sent_copies (organization_id, name, content)
       select :org, :copyName, :copyText where cast(:copyName as text) is not null on conflict do nothing
     ), kept as (
       insert into sent_contents (send_id, organization_id, copy_name, packed, created_at)
       values (:send, :org, :copyName, :packed, :now)
       on conflict (send_id) do update set copy_name = excluded.copy_name, packed = excluded.packed, created_at = excluded.created_at
     )`;

/** Bindings of {@link KEEP_CONTENT}. */
export function keptBindings(content: SentContent, copy: SentCopy | null) {
  return { copyName: copy?.name ?? null, copyText: copy?.text ?? null, packed: packContent(content, copy) };
}
