import type { Columns } from '../../db/rows.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../lib/cursor.ts';
import { likeLiteral } from '../records/conditions.ts';
import { assertMailboxAllowed } from '../kernel/actor.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader } from '../kernel/transact.ts';
import type { InboundKind } from '../engine/outcomes/record-inbound.ts';

/** Characters of a text that a list reads. */
const BEGINNING = 400;

export interface ThreadFilters {
  /** Part of the sender's address or name. */
  from?: string | undefined;
  /** Part of the subject. */
  subject?: string | undefined;
  unseen?: boolean | undefined;
  kind?: InboundKind | undefined;
  /** Arrival of the newest message: first and last day, UTC, as YYYY-MM-DD. */
  since?: string | undefined;
  until?: string | undefined;
  mailboxIds?: readonly string[] | undefined;
}

/** A conversation, shown by the newest received message. */
export interface ThreadRow extends Columns<
  'inbound_messages',
  | 'id'
  | 'mailbox_id'
  | 'thread_id'
  | 'from_email'
  | 'from_name'
  | 'to_emails'
  | 'subject'
  | 'received_at'
  | 'seen'
  | 'kind'
  | 'intent'
  | 'contact_id'
  | 'campaign_id'
> {
  snippet: string;
  /** Received messages, over all mailboxes that the caller may read. */
  message_count: number;
  has_unread: boolean;
}

/**
 * Conversations with a received message, newest arrival first, one row each. A campaign email without an answer is not a
 * conversation. For a key restricted to mailboxes, only messages in those.
 * @throws AppError bad_request for a cursor of another list or filter; forbidden for a mailbox the key may not use
 */
export async function listThreads(ctx: Ctx, page: PageRequest, filters: ThreadFilters): Promise<Page<ThreadRow>> {
  const mailboxes = readableMailboxes(ctx, filters.mailboxIds);
  const bound = [filters, mailboxes];
  const after = decodeIdCursor('unibox.threads', bound, page.cursor) ?? null;
  const ours = mailboxes ? 'and mailbox_id = any(cast(:mailboxes as uuid[]))' : '';
  const inMailboxes = (alias: string) => ours.replace('mailbox_id', `${alias}.mailbox_id`);
  const where = [
    ...(after ? ['m.id < cast(:after as uuid)'] : []),
    ...(filters.from ? [`m.from_email || ' ' || m.from_name ilike :from`] : []),
    ...(filters.subject ? ['m.subject ilike :subject'] : []),
    ...(filters.unseen === undefined ? [] : ['m.seen = not cast(:unseen as boolean)']),
    ...(filters.kind ? ['m.kind = :kind'] : []),
    ...(filters.since ? ["m.received_at >= cast(:since as date)::timestamp at time zone 'UTC'"] : []),
    ...(filters.until ? ["m.received_at < (cast(:until as date) + 1)::timestamp at time zone 'UTC'"] : []),
  ];
  const rows = await reader(ctx).sql<ThreadRow>(
    `select m.id, m.mailbox_id, m.thread_id, m.from_email, m.from_name, m.to_emails, m.subject, left(m.body_plain, ${BEGINNING}) as snippet, m.received_at,
       m.seen, m.kind, m.intent, m.contact_id, m.campaign_id, t.message_count, t.has_unread
     from inbound_messages m
     cross join lateral (
       select count(*)::int as message_count, bool_or(not o.seen) as has_unread from inbound_messages o
       where o.organization_id = :org and o.thread_id = m.thread_id ${inMailboxes('o')}
     ) t
     where m.organization_id = :org ${inMailboxes('m')} ${where.map((clause) => `and ${clause}`).join(' ')}
       and not exists (select 1 from inbound_messages n where n.organization_id = :org and n.thread_id = m.thread_id and n.id > m.id ${inMailboxes('n')})
     order by m.id desc limit :limit`,
    {
      limit: page.limit + 1,
      ...(after ? { after } : {}),
      ...(mailboxes ? { mailboxes } : {}),
      ...(filters.from ? { from: `%${likeLiteral(filters.from)}%` } : {}),
      ...(filters.subject ? { subject: `%${likeLiteral(filters.subject)}%` } : {}),
      ...(filters.unseen === undefined ? {} : { unseen: filters.unseen }),
      ...(filters.kind ? { kind: filters.kind } : {}),
      ...(filters.since ? { since: filters.since } : {}),
      ...(filters.until ? { until: filters.until } : {}),
    },
  );
  return pageOf(rows, page.limit, (last) => encodeCursor('unibox.threads', bound, [last.id]));
}

/**
 * The mailboxes that a read is limited to: the requested ones, or all of a restricted key; null for every one.
 * @throws AppError forbidden for one the key may not use
 */
export function readableMailboxes(ctx: Ctx, asked: readonly string[] | undefined): readonly string[] | null {
  if (!asked) return ctx.actor.allowedMailboxes;
  const ids = asked.map((id) => id.toLowerCase());
  for (const id of ids) assertMailboxAllowed(ctx.actor, id);
  return ids;
}
