import type { Columns } from '../../db/rows.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../lib/cursor.ts';
import { likeLiteral } from '../records/conditions.ts';
import { assertMailboxAllowed } from '../kernel/actor.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader } from '../kernel/transact.ts';
import type { InboundKind } from '../engine/outcomes/record-inbound.ts';
import type { Bindings } from '../../db/statement.ts';
import { searchMessages, type Hit } from './search.ts';
import { snoozeOwner } from './snooze.ts';

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
  /** Words of a message, as {@link searchMessages} reads them. */
  q?: string | undefined;
  /** Filed under one of these. */
  categoryIds?: readonly string[] | undefined;
  /** Only those that the caller has snoozed; they are left out otherwise. */
  snoozed?: boolean | undefined;
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
  /** Categories it is filed under. */
  labels: { id: string; title: string; color: string }[];
}

/**
 * Conversations with a received message, newest arrival first, one row each. A campaign email without an answer is not a
 * conversation. For a key restricted to mailboxes, only messages in those. With `q` each stands where its newest fitting message
 * came, and filters are about that message. Snoozed ones are left out unless asked for.
 * @throws AppError bad_request for a cursor of another list or filter; forbidden for a mailbox the key may not use
 */
export async function listThreads(ctx: Ctx, page: PageRequest, filters: ThreadFilters): Promise<Page<ThreadRow>> {
  const mailboxes = readableMailboxes(ctx, filters.mailboxIds);
  const bound = [filters, mailboxes];
  const after = decodeIdCursor('unibox.threads', bound, page.cursor) ?? null;
  const inMailboxes = (alias: string) => (mailboxes ? `and ${alias}.mailbox_id = any(cast(:mailboxes as uuid[]))` : '');
  const where = conditionsOf(filters);
  const bindings: Bindings = { ...bindingsOf(ctx, filters), ...(mailboxes ? { mailboxes } : {}) };
  const count = page.limit + 1;
  if (filters.q !== undefined) {
    const conditions = [...where, ...(mailboxes ? [`m.mailbox_id = any(cast(:mailboxes as uuid[]))`] : [])];
    const hits = await searchMessages(reader(ctx), filters.q, { conditions, bindings, after, count });
    const rows = await readThreads(ctx, hits, inMailboxes, mailboxes ? { mailboxes } : {});
    const found = pageOf(rows, page.limit, (last) => encodeCursor('unibox.threads', bound, [last.hit_id]));
    return { ...found, rows: found.rows.map(({ hit_id: _hit, ...row }) => row) };
  }
  if (after) where.push('m.id < cast(:after as uuid)');
  const rows = await reader(ctx).sql<ThreadRow>(
    `select ${COLUMNS}
     from inbound_messages m ${counts(inMailboxes)}
     where m.organization_id = :org ${inMailboxes('m')} ${where.map((clause) => `and ${clause}`).join(' ')}
       and not exists (select 1 from inbound_messages n where n.organization_id = :org and n.thread_id = m.thread_id and n.id > m.id ${inMailboxes('n')})
     order by m.id desc limit :limit` as `${string}:org${string}`,
    { ...bindings, limit: count, ...(after ? { after } : {}) },
  );
  return pageOf(rows, page.limit, (last) => encodeCursor('unibox.threads', bound, [last.id]));
}

type Narrow = (alias: string) => string;

const COLUMNS = `m.id, m.mailbox_id, m.thread_id, m.from_email, m.from_name, m.to_emails, m.subject, left(m.body_plain, ${BEGINNING}) as snippet, m.received_at,
       m.seen, m.kind, m.intent, m.contact_id, m.campaign_id, t.message_count, t.has_unread,
       coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'title', l.title, 'color', l.color) order by l.position)
         from thread_labels k join labels l on l.id = k.label_id where k.organization_id = :org and k.thread_id = m.thread_id), '[]') as labels`;

const counts = (narrow: Narrow): string => `cross join lateral (
       select count(*)::int as message_count, bool_or(not o.seen) as has_unread from inbound_messages o
       where o.organization_id = :org and o.thread_id = m.thread_id ${narrow('o')}
     ) t`;

/** The conversations of a search, in its order, each shown by its newest message. */
async function readThreads(
  ctx: Ctx,
  hits: readonly Hit[],
  narrow: Narrow,
  bindings: Bindings,
): Promise<(ThreadRow & { hit_id: string })[]> {
  if (hits.length === 0) return [];
  return reader(ctx).sql<ThreadRow & { hit_id: string }>(
    `select ${COLUMNS}, h.id as hit_id
     from unnest(cast(:hits as uuid[]), cast(:threads as text[])) with ordinality as h(id, thread_id, place)
     cross join lateral (
       select * from inbound_messages i where i.organization_id = :org and i.thread_id = h.thread_id ${narrow('i')} order by i.id desc limit 1
     ) m ${counts(narrow)}
     order by h.place` as `${string}:org${string}`,
    { ...bindings, hits: hits.map(({ id }) => id), threads: hits.map(({ thread_id: thread }) => thread) },
  );
}

/** Conditions of the filters, on `m`. */
function conditionsOf(filters: ThreadFilters): string[] {
  const snoozed = `exists (select 1 from thread_snoozes z where z.organization_id = :org and z.owner_id = :owner and z.thread_id = m.thread_id and z.snoozed_until > :now)`;
  return [
    ...(filters.from ? [`m.from_email || ' ' || m.from_name ilike :from`] : []),
    ...(filters.subject ? ['m.subject ilike :subject'] : []),
    ...(filters.unseen === undefined ? [] : ['m.seen = not cast(:unseen as boolean)']),
    ...(filters.kind ? ['m.kind = :kind'] : []),
    ...(filters.since ? ["m.received_at >= cast(:since as date)::timestamp at time zone 'UTC'"] : []),
    ...(filters.until ? ["m.received_at < (cast(:until as date) + 1)::timestamp at time zone 'UTC'"] : []),
    ...(filters.categoryIds
      ? [
          'exists (select 1 from thread_labels k where k.organization_id = :org and k.thread_id = m.thread_id and k.label_id = any(cast(:categories as uuid[])))',
        ]
      : []),
    filters.snoozed ? snoozed : `not ${snoozed}`,
  ];
}

function bindingsOf(ctx: Ctx, filters: ThreadFilters): Bindings {
  return {
    owner: snoozeOwner(ctx.actor),
    now: ctx.clock.now(),
    ...(filters.from ? { from: `%${likeLiteral(filters.from)}%` } : {}),
    ...(filters.subject ? { subject: `%${likeLiteral(filters.subject)}%` } : {}),
    ...(filters.unseen === undefined ? {} : { unseen: filters.unseen }),
    ...(filters.kind ? { kind: filters.kind } : {}),
    ...(filters.since ? { since: filters.since } : {}),
    ...(filters.until ? { until: filters.until } : {}),
    ...(filters.categoryIds ? { categories: [...filters.categoryIds] } : {}),
  };
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
