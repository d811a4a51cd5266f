import {
  decodeCursor,
  encodeCursor,
  isTimestampText,
  isWholeNumber,
  pageOf,
  type Page,
  type PageRequest,
} from '../../../lib/cursor.ts';
import type { Columns } from '../../../db/rows.ts';
import type { Bindings } from '../../../db/statement.ts';
import { isUuid } from '../../../lib/ids.ts';
import { assertMailboxAllowed } from '../../platform/kernel/actor.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import type { InboundKind } from '../../sending/outcomes/record-inbound.ts';
import type { Folder } from './folder.ts';
import { searchMessages, type Hit } from './search.ts';
import { snoozeOwner } from './snooze.ts';

/** Number of characters at the beginning of a text that lists read. */
export const BEGINNING = 400;
/**
 * Maximum number of conversations with the requested categories that are read and sorted. If there are more, the newest
 * conversations are read until a page is full.
 */
const FEW_LABELLED = 5_000;

export interface ThreadFilters {
  /** Part of the sender's address or name. */
  from?: string | undefined;
  /** Part of the subject. */
  subject?: string | undefined;
  unseen?: boolean | undefined;
  kind?: InboundKind | undefined;
  /** First and last day (YYYY-MM-DD, UTC) of the period in which the newest message arrived. */
  since?: string | undefined;
  until?: string | undefined;
  mailboxIds?: readonly string[] | undefined;
  /** Words of a message, in the syntax of {@link searchMessages}. */
  q?: string | undefined;
  /** Only conversations in one of these categories. */
  categoryIds?: readonly string[] | undefined;
  /** True to list only the conversations that the caller has snoozed. By default they are left out. */
  snoozed?: boolean | undefined;
  /**
   * True to list only conversations with a message about which a person must decide whether it asks to stop the emails.
   */
  asksToStop?: boolean | undefined;
  /** Folder of the conversation. Defaults to inbox and archive. */
  folder?: Folder | undefined;
  /** True to list only conversations whose last message is a sent one. */
  awaitingReply?: boolean | undefined;
}

/** A conversation, represented by its newest received message or by an email that was written in Heron. */
export interface ThreadRow extends Columns<
  'inbound_messages',
  | 'id'
  | 'thread_id'
  | 'from_email'
  | 'from_name'
  | 'to_emails'
  | 'subject'
  | 'received_at'
  | 'seen'
  | 'intent'
  | 'answer'
  | 'corrected_kind'
  | 'contact_id'
  | 'campaign_id'
> {
  /** Null for a draft without a mailbox. */
  mailbox_id: string | null;
  filed: string;
  /** Class of a received email, such as reply or bounce. Null for an email that was written in Heron. */
  kind: string | null;
  snippet: string;
  /** Number of received messages, over all mailboxes that the caller may read. */
  message_count: number;
  has_unread: boolean;
  /** True if a person must decide whether one of its messages asks to stop the emails. */
  asks_to_stop: boolean;
  /** True if the last message is a sent one. */
  is_answered: boolean;
  /** Categories of the conversation. */
  labels: { id: string; title: string; color: string }[];
}

/**
 * Lists conversations with a received message, newest arrival first. A campaign email without a reply is not listed. An
 * API key that is restricted to mailboxes sees only their messages. With `q`, order and filters refer to the newest
 * matching message. Snoozed conversations, and those in spam and trash, are omitted unless requested.
 * @throws AppError bad_request for a cursor of another list or filter; forbidden for a mailbox the key may not use
 */
export async function listThreads(ctx: Ctx, page: PageRequest, filters: ThreadFilters): Promise<Page<ThreadRow>> {
  const mailboxes = readableMailboxes(ctx, filters.mailboxIds);
  const { q, from, subject } = filters;
  return q === undefined && from === undefined && subject === undefined
    ? walkThreads(ctx, page, filters, mailboxes)
    : searchThreads(ctx, page, filters, mailboxes);
}

type Walked = ThreadRow & { at_text: string };

/** Lists conversations if an index of inbox_threads can be used for the filters. */
async function walkThreads(
  ctx: Ctx,
  page: PageRequest,
  filters: ThreadFilters,
  mailboxes: readonly string[] | null,
): Promise<Page<ThreadRow>> {
  const bound = [filters, mailboxes];
  const after = decodeCursor<[at: string, id: string]>('unibox.threads', bound, page.cursor, [isTimestampText, isUuid]);
  const org = reader(ctx);
  const among = await fewThreads(ctx, filters);
  const narrow = (alias: string) => (mailboxes ? `and ${alias}.mailbox_id = any(cast(:mailboxes as uuid[]))` : '');
  const where = [
    ...threadConditions(filters),
    ...(after ? [`(t.newest_at, t.newest_id) < (cast(:at as timestamptz), cast(:after as uuid))`] : []),
    `not exists (select from inbox_threads n where n.organization_id = :org and n.thread_id = t.thread_id ${narrow('n')} and ${inFolder('n', filters)}
         and (n.newest_at, n.newest_id) > (t.newest_at, t.newest_id))`,
  ];
  const select = (condition: string) =>
    `select t.thread_id, t.newest_id, t.newest_at from inbox_threads t ${among ? `join (${among}) a on a.thread_id = t.thread_id` : ''}
     where t.organization_id = :org and ${[condition, ...where].join(' and ')} order by t.newest_at desc, t.newest_id desc limit :limit`;
  // Merges the newest conversations of each mailbox, because an index is sorted only within one mailbox.
  const chosen = !mailboxes
    ? select('true')
    : `select t.* from unnest(cast(:mailboxes as uuid[])) box cross join lateral (${select('t.mailbox_id = box')}) t`;
  const rows = await org.sql<Walked>(
    `select ${COLUMNS}, to_char(c.newest_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00' as at_text
     from (select * from (${chosen}) c order by newest_at desc, newest_id desc limit :limit) c
     join inbound_messages m on m.id = c.newest_id ${counts(narrow)}
     where m.organization_id = :org order by c.newest_at desc, c.newest_id desc` as `${string}:org${string}`,
    {
      ...bindingsOf(ctx, filters),
      ...(mailboxes ? { mailboxes } : {}),
      ...(after ? { at: after[0], after: after[1] } : {}),
      limit: page.limit + 1,
    },
  );
  const found = pageOf(rows, page.limit, (last) => encodeCursor('unibox.threads', bound, [last.at_text, last.id]));
  return { ...found, rows: found.rows.map(({ at_text: _at, ...row }) => row) };
}

/** Finds conversations by words or by parts of senders and subjects. */
async function searchThreads(
  ctx: Ctx,
  page: PageRequest,
  filters: ThreadFilters,
  mailboxes: readonly string[] | null,
): Promise<Page<ThreadRow>> {
  const bound = [filters, mailboxes];
  const after = decodeCursor<[number]>('unibox.threads', bound, page.cursor, [isWholeNumber])?.[0] ?? null;
  const { q, from, subject } = filters;
  const hits = await searchMessages(
    reader(ctx),
    { q, from, subject },
    {
      conditions: (alias) => messageConditions(alias, filters, mailboxes),
      bindings: { ...bindingsOf(ctx, filters), ...(mailboxes ? { mailboxes } : {}) },
      mailboxes,
      kind: filters.kind,
      among: await fewThreads(ctx, filters),
      after,
      count: page.limit + 1,
    },
  );
  const rows = await readThreads(ctx, hits, mailboxes);
  const found = pageOf(rows, page.limit, (last) => encodeCursor('unibox.threads', bound, [last.number]));
  return { ...found, rows: found.rows.map(({ number: _number, ...row }) => row) };
}

type Narrow = (alias: string) => string;

const ASKING = (alias: string): string =>
  `exists (select from opt_out_questions q where q.organization_id = :org and q.thread_id = ${alias}.thread_id)`;

/** SQL expression for the categories of the conversation of `alias`, as a JSON list. */
export const LABELS = (
  alias: string,
): string => `coalesce((select jsonb_agg(jsonb_build_object('id', l.id, 'title', l.title, 'color', l.color) order by l.position)
         from thread_labels k join labels l on l.id = k.label_id where k.organization_id = :org and k.thread_id = ${alias}.thread_id), '[]')`;

const COLUMNS = `m.id, m.mailbox_id, m.thread_id, m.from_email, m.from_name, m.to_emails, m.subject, left(m.body_plain, ${BEGINNING}) as snippet, m.received_at,
       m.seen, m.filed, m.kind, m.intent, m.answer, m.corrected_kind, m.contact_id, m.campaign_id,
       ${ASKING('m')} as asks_to_stop, k.message_count, k.has_unread, k.is_answered,
       ${LABELS('m')} as labels`;

const counts = (narrow: Narrow): string => `cross join lateral (
       select sum(o.message_count)::int as message_count, bool_or(o.unseen_count > 0 or not o.seen) as has_unread, bool_or(o.is_answered) as is_answered
       from inbox_threads o where o.organization_id = :org and o.thread_id = m.thread_id ${narrow('o')}
     ) k`;

/** Returns the conversations that a search has found, in the same order. Each is represented by its newest message. */
async function readThreads(
  ctx: Ctx,
  hits: readonly Hit[],
  mailboxes: readonly string[] | null,
): Promise<(ThreadRow & { number: number })[]> {
  if (hits.length === 0) return [];
  const narrow = (alias: string) => (mailboxes ? `and ${alias}.mailbox_id = any(cast(:mailboxes as uuid[]))` : '');
  return reader(ctx).sql<ThreadRow & { number: number }>(
    `select ${COLUMNS}, h.number
     from unnest(cast(:numbers as bigint[]), cast(:threads as text[])) as h(number, thread_id)
     cross join lateral (
       select newest_id from inbox_threads t where t.organization_id = :org and t.thread_id = h.thread_id ${narrow('t')} order by newest_at desc, newest_id desc limit 1
     ) t
     join inbound_messages m on m.id = t.newest_id ${counts(narrow)}
     where m.organization_id = :org order by h.number desc` as `${string}:org${string}`,
    {
      numbers: hits.map(({ number }) => number),
      threads: hits.map(({ thread_id: thread }) => thread),
      ...(mailboxes ? { mailboxes } : {}),
    },
  );
}

/** SQL condition: the caller has snoozed the conversation of `alias`. */
export const SNOOZED = (alias: string): string =>
  `exists (select from thread_snoozes z where z.organization_id = :org and z.owner_id = :owner and z.thread_id = ${alias}.thread_id and z.snoozed_until > :now)`;
/** SQL condition: the conversation of `alias` is in one of `:categories`. */
export const LABELLED = (alias: string): string =>
  `exists (select from thread_labels k where k.organization_id = :org and k.thread_id = ${alias}.thread_id and k.label_id = any(cast(:categories as uuid[])))`;

/**
 * Returns SQL that selects the conversations to start from, if a filter matches only a few. Returns undefined if it
 * matches many.
 */
export async function fewThreads(
  ctx: Ctx,
  { categoryIds, snoozed, asksToStop }: ThreadFilters,
): Promise<string | undefined> {
  if (asksToStop) return 'select distinct thread_id from opt_out_questions where organization_id = :org';
  if (snoozed)
    return `select thread_id from thread_snoozes where organization_id = :org and owner_id = :owner and snoozed_until > :now`;
  if (!categoryIds) return undefined;
  const labelled = `select distinct thread_id from thread_labels where organization_id = :org and label_id = any(cast(:categories as uuid[]))`;
  const [row] = await reader(ctx).sql<{ count: number }>(
    `select count(*)::int as count from (
       select from thread_labels where organization_id = :org and label_id = any(cast(:categories as uuid[])) limit ${FEW_LABELLED + 1}
     ) labelled`,
    { categories: [...categoryIds] },
  );
  return row!.count <= FEW_LABELLED ? labelled : undefined;
}

/** Returns the filter conditions on a conversation `t`. */
function threadConditions(filters: ThreadFilters): string[] {
  return [
    inFolder('t', filters),
    ...(filters.unseen === undefined ? [] : [filters.unseen ? 'not t.seen' : 't.seen']),
    ...(filters.kind ? ['t.kind = :kind'] : []),
    ...inTime('t.newest_at', filters),
    ...(filters.awaitingReply === undefined ? [] : [filters.awaitingReply ? 't.is_answered' : 'not t.is_answered']),
    ...(filters.categoryIds ? [LABELLED('t')] : []),
    ...(filters.asksToStop ? [ASKING('t')] : []),
    filters.snoozed ? SNOOZED('t') : `not ${SNOOZED('t')}`,
  ];
}

/**
 * Returns the filter conditions on a message. If no words are searched, the message must be the newest of its
 * conversation.
 */
function messageConditions(alias: string, filters: ThreadFilters, mailboxes: readonly string[] | null): string[] {
  const ofThread = [
    ...(filters.q === undefined ? [`t.newest_id = ${alias}.id`] : []),
    ...(filters.awaitingReply === undefined ? [] : [filters.awaitingReply ? 't.is_answered' : 'not t.is_answered']),
  ];
  return [
    inFolder(alias, filters),
    ...(mailboxes ? [`${alias}.mailbox_id = any(cast(:mailboxes as uuid[]))`] : []),
    ...(filters.unseen === undefined ? [] : [filters.unseen ? `not ${alias}.seen` : `${alias}.seen`]),
    ...(filters.kind ? [`${alias}.kind = :kind`] : []),
    ...inTime(`${alias}.received_at`, filters),
    ...(filters.categoryIds ? [LABELLED(alias)] : []),
    ...(filters.asksToStop ? [ASKING(alias)] : []),
    filters.snoozed ? SNOOZED(alias) : `not ${SNOOZED(alias)}`,
    ...(ofThread.length === 0
      ? []
      : [
          `exists (select from inbox_threads t where t.organization_id = :org and t.thread_id = ${alias}.thread_id and t.mailbox_id = ${alias}.mailbox_id
             and ${ofThread.join(' and ')})`,
        ]),
  ];
}

function inFolder(alias: string, { folder }: ThreadFilters): string {
  return folder ? `${alias}.filed = :folder` : `${alias}.filed in ('inbox', 'archive')`;
}

/** Returns SQL conditions on a time by the first and last day of the filters. */
export function inTime(column: string, { since, until }: Pick<ThreadFilters, 'since' | 'until'>): string[] {
  return [
    ...(since ? [`${column} >= cast(:since as date)::timestamp at time zone 'UTC'`] : []),
    ...(until ? [`${column} < (cast(:until as date) + 1)::timestamp at time zone 'UTC'`] : []),
  ];
}

/** Returns the bindings of the filters' conditions. */
export function bindingsOf(ctx: Ctx, filters: ThreadFilters): Bindings {
  return {
    owner: snoozeOwner(ctx.actor),
    now: ctx.clock.now(),
    ...(filters.kind ? { kind: filters.kind } : {}),
    ...(filters.since ? { since: filters.since } : {}),
    ...(filters.until ? { until: filters.until } : {}),
    ...(filters.folder ? { folder: filters.folder } : {}),
    ...(filters.categoryIds ? { categories: [...filters.categoryIds] } : {}),
  };
}

/**
 * Returns the mailboxes to which a read is limited: the requested ones, or all mailboxes of a restricted key. Null
 * allows every mailbox.
 * @throws AppError forbidden for a mailbox the key may not use
 */
export function readableMailboxes(ctx: Ctx, asked: readonly string[] | undefined): readonly string[] | null {
  if (!asked) return ctx.actor.allowedMailboxes;
  const ids = [...new Set(asked.map((id) => id.toLowerCase()))];
  for (const id of ids) assertMailboxAllowed(ctx.actor, id);
  return ids;
}
