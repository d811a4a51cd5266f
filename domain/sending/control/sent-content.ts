import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SendMailOptions } from 'nodemailer';
import { across } from '../../../db/across.ts';
import type { StoredAttachment } from '../../../db/json-columns.ts';
import type { Columns } from '../../../db/rows.ts';
import type { Bindings } from '../../../db/statement.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { sha256 } from '../../../lib/crypto.ts';
import type { MessageInput } from '../../mail/messages/build.ts';
import { buildFooter } from '../../mail/messages/footer.ts';
import { plainToHtml } from '../../mail/messages/html.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

/** Content of a sent email before tracking, with the headers that people see. */
interface SentContent {
  from: string;
  fromName: string;
  replyTo: string;
  to: string[];
  cc: string[];
  bcc: string[];
  /** Subject and bodies. Absent for an email written in Heron, whose own row stores them. */
  written?: { subject: string; text: string; html: string | null; files?: StoredAttachment[] };
}

/** An email address in the form that nodemailer uses. */
interface Address {
  name: string;
  address: string;
}

/** Window size (bytes) of deflate. It does not find repetitions at a greater distance. */
const WINDOW = 32 * 1024;
/** Maximum size (bytes) of an email's content. */
const MAX_CONTENT = 4 * 1024 * 1024;
/** Number of hexadecimal digits in the name of a shared text. */
const NAME_LENGTH = 32;

/** Maximum number of stored shared texts whose names this process remembers. */
const MAX_KNOWN = 10_000;
/** Names of the shared texts that this process has stored, each with its organization. */
const known = new Set<string>();

/** A source text shared by several emails and stored once. */
interface SentCopy {
  /** Hash of the text. */
  name: string;
  text: string;
  /** Hash of only the step version; see `dimensionsOf`. */
  copyHash: string;
}

/**
 * Returns the text that all emails of a step version share: the sources of its text, the signature and the opt-out
 * text.
 */
export function commonCopy({ step, sender, unsubscribe }: MessageInput, copyHash: string): SentCopy {
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
  return { name: sha256(text).slice(0, NAME_LENGTH), text, copyHash };
}

/** Returns the headers of a built message that people see. */
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

/** Returns the bytes of a content compressed with its source copy as dictionary. */
function packContent(content: SentContent, copy: SentCopy | null): Buffer {
  return deflateRawSync(JSON.stringify(content), copy ? { dictionary: dictionaryOf(copy.text) } : {});
}

/** Unpacks a stored content. `copy` is the text of its shared copy, null if it has none. */
export function unpackContent(packed: Buffer, copy: string | null): SentContent {
  const options = { maxOutputLength: MAX_CONTENT, ...(copy === null ? {} : { dictionary: dictionaryOf(copy) }) };
  return JSON.parse(inflateRawSync(packed, options).toString('utf8')) as SentContent;
}

/** Returns the text as it occurs in JSON, which escapes line ends and quotes, for use as dictionary. */
function dictionaryOf(text: string): Buffer {
  return Buffer.from(JSON.stringify(text)).subarray(-WINDOW);
}

/**
 * Returns the contents of sent emails by send id. Emails whose content was erased, or whose retention has ended, are
 * missing.
 */
export async function readSentContents(org: OrgScope, sendIds: readonly string[]): Promise<Map<string, SentContent>> {
  return sendIds.length === 0 ? new Map() : readContents(org, 'any(cast(:ids as uuid[]))', { ids: [...sendIds] });
}

/** Variant of {@link readSentContents} for ids selected by SQL. `ids` is the right side of `send_id =`. */
export async function readContents(
  org: OrgScope,
  ids: string,
  bindings: Record<string, string | string[]>,
): Promise<Map<string, SentContent>> {
  const rows = await org.sql<Columns<'sent_contents', 'send_id' | 'packed'> & { copy: string | null }>(
    `select e.send_id, e.packed, c.content as copy from sent_contents e
       left join sent_copies c on c.organization_id = e.organization_id and c.name = e.copy_name
     where e.organization_id = :org and e.send_id = ${ids}`,
    bindings,
  );
  return new Map(rows.map(({ send_id: id, packed, copy }) => [id, unpackContent(packed, copy)]));
}

/**
 * SQL of a CTE that finds the shared text used as dictionary. A returned row means that the text stays stored until the
 * commit.
 */
const SHARED = {
  none: 'shared as (select null::text as name)',
  known: 'shared as (select name from sent_copies where organization_id = :org and name = :copyName for key share)',
  // `do update` also locks a row that another transaction has inserted; `do nothing` would not.
  unknown: `shared as (
       insert into sent_copies (organization_id, name, copy_hash, content) values (:org, :copyName, :copyHash, :copyText)
       on conflict (organization_id, name) do update set content = excluded.content returning name
     )`,
} as const;

/**
 * Stores the content of the email `:send` in the statement that claims it. The shared text is sent to PostgreSQL once
 * per process, and again if it was deleted in the meantime.
 * @param statement creates the statement from its first CTEs. It must return a row, and change the email only if the
 * CTE `kept` has a row
 */
export async function storeContent(
  { org }: Pick<Tx, 'org'>,
  statement: (kept: string) => `${string}:org${string}`,
  bindings: Bindings & { send: string; now: Date },
  { content, copy }: { content: SentContent; copy: SentCopy | null },
): Promise<void> {
  const packed = packContent(content, copy);
  const store = async (shared: string, more: Bindings): Promise<boolean> => {
    const kept = `${shared}, kept as (
       insert into sent_contents (send_id, organization_id, copy_name, packed, created_at)
       select :send, :org, shared.name, :packed, :now from shared
       on conflict (send_id) do update set copy_name = excluded.copy_name, packed = excluded.packed, created_at = excluded.created_at
       returning send_id
     )`;
    return (await org.sql(statement(kept), { ...bindings, packed, ...more })).length > 0;
  };
  if (!copy) {
    await store(SHARED.none, {});
    return;
  }
  const { name: copyName, text: copyText, copyHash } = copy;
  const key = `${org.organizationId}/${copyName}`;
  if (known.has(key) && (await store(SHARED.known, { copyName }))) return;
  await store(SHARED.unknown, { copyName, copyText, copyHash });
  if (known.size >= MAX_KNOWN) known.clear();
  known.add(key);
}

/**
 * Deletes shared texts that no stored content uses as dictionary any more, in pages with a transaction each. Skips
 * texts locked by the claim of an email.
 * @returns number of deleted texts
 */
export async function deleteUnusedCopies({ db }: Pick<Deps, 'db'>): Promise<number> {
  let deleted = 0;
  for (;;) {
    const page = await inTransaction(db, async (trx) => {
      const scope = across(trx, 'maintenance');
      const locked = await scope.sql<Columns<'sent_copies', 'organization_id' | 'name'>>(
        `select organization_id, name from sent_copies c where ${UNUSED} limit ${COPIES_PAGE} for update of c skip locked`,
      );
      if (locked.length === 0) return { found: 0, rowCount: 0 };
      // A claim may have committed between the search and the lock, so the deletion checks the condition again.
      const { rowCount } = await scope.run(
        `delete from sent_copies c using unnest(cast(:organizations as uuid[]), cast(:names as text[])) as l(organization_id, name)
         where c.organization_id = l.organization_id and c.name = l.name and ${UNUSED}`,
        {
          organizations: locked.map(({ organization_id: id }) => id),
          names: locked.map(({ name }) => name),
        },
      );
      return { found: locked.length, rowCount };
    });
    deleted += page.rowCount;
    if (page.found < COPIES_PAGE) return deleted;
  }
}

const COPIES_PAGE = 1000;
/** SQL condition: no stored content uses the shared text `c` as dictionary. */
const UNUSED =
  'not exists (select from sent_contents e where e.organization_id = c.organization_id and e.copy_name = c.name)';
