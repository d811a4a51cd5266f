import type { Bindings } from '../../../db/statement.ts';
import {
  decodeCursor,
  encodeCursor,
  isTimestampText,
  pageOf,
  type Page,
  type PageRequest,
} from '../../../lib/cursor.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { readSentContents } from '../../sending/control/sent-content.ts';
import { SENT_STATES } from '../conversation.ts';
import type { WrittenFolder } from './folder.ts';
import {
  BEGINNING,
  bindingsOf,
  fewThreads,
  inTime,
  LABELLED,
  LABELS,
  readableMailboxes,
  SNOOZED,
  type ThreadFilters,
  type ThreadRow,
} from './threads.ts';

/** Filters that apply to emails written in Heron. */
type WrittenFilters = Pick<ThreadFilters, 'mailboxIds' | 'categoryIds' | 'snoozed' | 'since' | 'until'> & {
  folder: WrittenFolder;
};

type Placed = ThreadRow & { at_text: string };

/** SQL expression for the time at which the email of `alias` was sent. */
const LEFT_AT = (alias: string): string => `coalesce(${alias}.sent_at, ${alias}.claimed_at, ${alias}.slot_at)`;
/** SQL expression for a timestamp as text with microseconds, as used in a cursor. */
const TEXT = (at: string): string => `to_char(${at} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00'`;

/**
 * Lists emails that were written in Heron, newest first. `sent`: one row per conversation with its latest sent email,
 * by a campaign, a person or an agent. `drafts`: one row per draft. Emails of a removed mailbox are left out.
 * @throws AppError bad_request for a cursor of another list or filter; forbidden for a mailbox the key may not use
 */
export async function listWritten(ctx: Ctx, page: PageRequest, filters: WrittenFilters): Promise<Page<ThreadRow>> {
  const mailboxes = readableMailboxes(ctx, filters.mailboxIds);
  const bound = [filters, mailboxes];
  const after = decodeCursor<[at: string, id: string]>('unibox.written', bound, page.cursor, [isTimestampText, isUuid]);
  const bindings: Bindings = {
    ...bindingsOf(ctx, { ...filters, folder: undefined }),
    ...(mailboxes ? { mailboxes } : {}),
    ...(after ? { at: after[0], after: after[1] } : {}),
    limit: page.limit + 1,
  };
  const isAfter = after !== undefined;
  const among = filters.folder === 'sent' ? await fewThreads(ctx, filters) : undefined;
  const rows = await reader(ctx).sql<Placed>(
    (filters.folder === 'sent'
      ? sentSql(among ? fewSent(among, filters, mailboxes, isAfter) : walkSent(filters, mailboxes, isAfter), mailboxes)
      : draftsSql(filters, mailboxes, isAfter)) as `${string}:org${string}`,
    bindings,
  );
  const found = pageOf(rows, page.limit, (last) => encodeCursor('unibox.written', bound, [last.at_text, last.id]));
  const shown = found.rows.map(({ at_text: _at, ...row }) => row);
  if (filters.folder === 'sent') await showAsLeft(ctx, shown);
  return { ...found, rows: shown };
}

/** SQL of columns that only received messages have, and of the conversation's columns. */
const REST = `true as seen, null as kind, null as intent, null as answer, null as corrected_kind, false as asks_to_stop, ${LABELS('w')} as labels,
     coalesce(k.message_count, 0) as message_count, coalesce(k.has_unread, false) as has_unread`;

/** SQL join that counts the received messages in the conversation of `w`. */
const received = (mailboxes: readonly string[] | null): string => `left join lateral (
       select sum(o.message_count)::int as message_count, bool_or(o.unseen_count > 0 or not o.seen) as has_unread, bool_and(o.is_answered) as is_answered
       from inbox_threads o where o.organization_id = :org and o.thread_id = w.thread_id
         ${mailboxes ? 'and o.mailbox_id = any(cast(:mailboxes as uuid[]))' : ''}
     ) k on true`;

/** SQL: message ID of the first email in the conversation of the campaign email `alias`. */
const ROOT = (alias: string): string => `coalesce(${alias}.conversation -> 'messageIds' ->> 0, ${alias}.message_id)`;

/**
 * Returns SQL of the latest sent emails of all conversations. Merges those of each mailbox: an index gives the order of
 * one mailbox only.
 */
function walkSent(filters: WrittenFilters, mailboxes: readonly string[] | null, isAfter: boolean): string {
  const isLater = (alias: string) =>
    `${alias}.organization_id = :org and ${alias}.state in ${SENT_STATES} and (${LEFT_AT(alias)}, ${alias}.id) > (${LEFT_AT('s')}, s.id)
       ${mailboxes ? `and ${alias}.mailbox_id = any(cast(:mailboxes as uuid[]))` : ''}`;
  const conditions = (at: string) => [
    's.organization_id = :org and s.mailbox_id = b.id',
    ...(isAfter ? [`(${at}, s.id) < (cast(:at as timestamptz), cast(:after as uuid))`] : []),
    ...inTime(at, filters),
    ...onConversation('x', filters),
    `not exists (select from sends r join sends n on n.enrollment_id = r.enrollment_id
         where r.organization_id = :org and r.message_id = x.thread_id and ${ROOT('n')} = x.thread_id
           and ${isLater('n')})`,
    `not exists (select from direct_sends o join sends n on n.id = o.id where o.organization_id = :org and o.thread_id = x.thread_id and ${isLater('n')})`,
  ];
  const latest = (at: string, condition: string) =>
    `(select s.id, ${at} as left_at, x.thread_id from sends s left join direct_sends d on d.id = s.id
        cross join lateral (select coalesce(d.thread_id, ${ROOT('s')}) as thread_id) x
      where ${[condition, ...conditions(at)].join(' and ')} order by ${at} desc, s.id desc limit :limit)`;
  return `select l.* from mailboxes b cross join lateral (
         ${latest('s.sent_at', `s.sent_at is not null and s.state in ${SENT_STATES}`)}
         union all
         ${latest('coalesce(s.claimed_at, s.slot_at)', `s.sent_at is null and s.state in ('uncertain', 'bounced')`)}
       ) l where b.organization_id = :org ${mailboxes ? 'and b.id = any(cast(:mailboxes as uuid[]))' : ''}
       order by l.left_at desc, l.id desc limit :limit`;
}

/** Returns SQL of the latest sent email of each of a few conversations, which `among` selects. */
function fewSent(
  among: string,
  filters: WrittenFilters,
  mailboxes: readonly string[] | null,
  isAfter: boolean,
): string {
  const conditions = [
    ...(isAfter ? ['(l.left_at, l.id) < (cast(:at as timestamptz), cast(:after as uuid))'] : []),
    ...inTime('l.left_at', filters),
    ...onConversation('l', filters),
  ];
  return `select l.* from (${among}) a cross join lateral (
       select s.id, ${LEFT_AT('s')} as left_at, a.thread_id from sends s join mailboxes b on b.id = s.mailbox_id
       where s.organization_id = :org and s.state in ${SENT_STATES} ${mailboxes ? 'and s.mailbox_id = any(cast(:mailboxes as uuid[]))' : ''}
         and s.id in (
           select d.id from direct_sends d where d.organization_id = :org and d.thread_id = a.thread_id
           union all
           select coalesce(n.id, r.id) from sends r left join sends n on n.enrollment_id = r.enrollment_id
           where r.organization_id = :org and r.message_id = a.thread_id and (n.id is null or ${ROOT('n')} = a.thread_id))
       order by 2 desc, s.id desc limit 1
     ) l where ${conditions.join(' and ')} order by l.left_at desc, l.id desc limit :limit`;
}

/** Returns SQL of the list from SQL of its emails. */
function sentSql(emails: string, mailboxes: readonly string[] | null): string {
  return `with w as materialized (${emails})
     select s.id, s.mailbox_id, w.thread_id, b.email as from_email, b.name as from_name, coalesce(d.to_emails, array[s.recipient]) as to_emails,
       s.subject, left(coalesce(d.body_plain, ''), ${BEGINNING}) as snippet, w.left_at as received_at, ${TEXT('w.left_at')} as at_text, 'sent' as filed,
       s.contact_id, s.campaign_id, coalesce(k.is_answered, true) as is_answered, ${REST}
     from w join sends s on s.id = w.id join mailboxes b on b.id = s.mailbox_id left join direct_sends d on d.id = s.id ${received(mailboxes)}
     order by w.left_at desc, w.id desc`;
}

function draftsSql(filters: WrittenFilters, mailboxes: readonly string[] | null, isAfter: boolean): string {
  const conditions = [
    'd.organization_id = :org',
    ...(mailboxes ? ['d.mailbox_id = any(cast(:mailboxes as uuid[]))'] : []),
    ...(isAfter ? ['(d.updated_at, d.id) < (cast(:at as timestamptz), cast(:after as uuid))'] : []),
    ...inTime('d.updated_at', filters),
    ...onConversation('d', filters),
  ];
  return `select w.id, w.mailbox_id, coalesce(w.thread_id, '') as thread_id, coalesce(b.email, '') as from_email, coalesce(b.name, '') as from_name, w.to_emails,
       w.subject, left(w.body_plain, ${BEGINNING}) as snippet, w.updated_at as received_at, ${TEXT('w.updated_at')} as at_text, 'drafts' as filed,
       null as contact_id, null as campaign_id, coalesce(k.is_answered, false) as is_answered, ${REST}
     from (select * from email_drafts d where ${conditions.join(' and ')} order by d.updated_at desc, d.id desc limit :limit) w
     left join mailboxes b on b.id = w.mailbox_id ${received(mailboxes)} order by w.updated_at desc, w.id desc`;
}

function onConversation(alias: string, { categoryIds, snoozed }: WrittenFilters): string[] {
  return [...(categoryIds ? [LABELLED(alias)] : []), snoozed ? SNOOZED(alias) : `not ${SNOOZED(alias)}`];
}

/** Replaces recipients, subject and text of campaign emails with those that were sent, if they are stored. */
async function showAsLeft(ctx: Ctx, rows: ThreadRow[]): Promise<void> {
  const contents = await readSentContents(
    reader(ctx),
    rows.map(({ id }) => id),
  );
  for (const row of rows) {
    const kept = contents.get(row.id);
    if (!kept) continue;
    row.to_emails = kept.to;
    if (!kept.written) continue;
    row.subject = kept.written.subject;
    row.snippet = kept.written.text.slice(0, BEGINNING);
  }
}
