import type { Columns } from '../../../db/rows.ts';
import { decodeCursor, encodeCursor, isWholeNumber, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { searchSent } from './search.ts';
import { BEGINNING, readableMailboxes } from './threads.ts';

export interface SentFilters {
  /** Words of the email, its subject or its recipients, in the syntax of a search of received messages. */
  q?: string | undefined;
  /** Part of a recipient's address. */
  to?: string | undefined;
  /** Part of the subject. */
  subject?: string | undefined;
  mailboxIds?: readonly string[] | undefined;
}

/** A sent email that a person or an agent wrote. */
export interface SentRow extends Columns<
  'direct_sends',
  | 'id'
  | 'kind'
  | 'state'
  | 'mailbox_id'
  | 'thread_id'
  | 'message_id'
  | 'to_emails'
  | 'cc_emails'
  | 'bcc_emails'
  | 'subject'
  | 'contact_id'
> {
  number: number;
  /** Address of the sending mailbox. Null if the mailbox was removed. */
  from_email: string | null;
  snippet: string;
  file_count: number;
  sent_at: Date;
}

/**
 * Lists sent emails of people and agents, newest first. Includes emails that may have been sent (`uncertain`) and
 * bounced ones. A key restricted to mailboxes sees only their emails. Campaign emails are listed with their contacts,
 * because their texts are not stored.
 * @throws AppError bad_request for a cursor of another list or filter; forbidden for a mailbox the key may not use
 */
export async function listSent(ctx: Ctx, page: PageRequest, filters: SentFilters): Promise<Page<SentRow>> {
  const mailboxes = readableMailboxes(ctx, filters.mailboxIds);
  const bound = [filters, mailboxes];
  const after = decodeCursor<[number]>('unibox.sent', bound, page.cursor, [isWholeNumber])?.[0] ?? null;
  const { q, to, subject } = filters;
  const ids =
    q === undefined && to === undefined && subject === undefined
      ? await walkSent(ctx, mailboxes, after, page.limit + 1)
      : await findSent(ctx, { q, from: to, subject }, mailboxes, after, page.limit + 1);
  const rows = await readSent(ctx, ids);
  return pageOf(rows, page.limit, (last) => encodeCursor('unibox.sent', bound, [last.number]));
}

/** SQL condition: the email was sent or may have been sent. Excludes emails that will be tried again or have failed. */
const HAS_LEFT = (alias: string): string => `${alias}.state in ('sent', 'uncertain', 'bounced')`;

/**
 * Returns the ids of a page if no text is searched, with an index. Reads several mailboxes one by one and merges the
 * results.
 */
async function walkSent(
  ctx: Ctx,
  mailboxes: readonly string[] | null,
  after: number | null,
  limit: number,
): Promise<string[]> {
  const select = (condition: string) =>
    `select w.number, w.direct_send_id as id from sent_words w join direct_sends d on d.id = w.direct_send_id
     where w.organization_id = :org and ${condition} ${after === null ? '' : 'and w.number < :after'} and ${HAS_LEFT('d')} order by w.number desc limit :limit`;
  const rows = await reader(ctx).sql<{ id: string }>(
    (mailboxes
      ? `select t.* from unnest(cast(:mailboxes as uuid[])) box cross join lateral (${select('w.mailbox_id = box')}) t order by t.number desc limit :limit`
      : select('true')) as `${string}:org${string}`,
    { limit, ...(mailboxes ? { mailboxes } : {}), ...(after === null ? {} : { after }) },
  );
  return rows.map(({ id }) => id);
}

async function findSent(
  ctx: Ctx,
  text: Parameters<typeof searchSent>[1],
  mailboxes: readonly string[] | null,
  after: number | null,
  count: number,
): Promise<string[]> {
  const hits = await searchSent(reader(ctx), text, {
    conditions: (alias) => [
      HAS_LEFT(alias),
      ...(mailboxes ? [`${alias}.mailbox_id = any(cast(:mailboxes as uuid[]))`] : []),
    ],
    bindings: mailboxes ? { mailboxes } : {},
    mailboxes,
    after,
    count,
  });
  return hits.map(({ id }) => id);
}

async function readSent(ctx: Ctx, ids: readonly string[]): Promise<SentRow[]> {
  if (ids.length === 0) return [];
  return reader(ctx).sql<SentRow>(
    `select w.number, d.id, d.kind, d.state, d.mailbox_id, d.thread_id, d.message_id, d.to_emails, d.cc_emails, d.bcc_emails, d.subject, d.contact_id,
       b.email as from_email, left(d.body_plain, ${BEGINNING}) as snippet, jsonb_array_length(d.attachments) as file_count,
       coalesce(s.sent_at, d.finished_at, d.updated_at) as sent_at
     from sent_words w join direct_sends d on d.id = w.direct_send_id left join mailboxes b on b.id = d.mailbox_id left join sends s on s.id = d.id
     where w.organization_id = :org and w.direct_send_id = any(cast(:ids as uuid[])) order by w.number desc`,
    { ids: [...ids] },
  );
}
