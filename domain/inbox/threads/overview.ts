import { DAY_MS } from '../../../lib/clock.ts';
import type { Bindings } from '../../../db/statement.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { SENT_STATES } from '../conversation.ts';
import { COUNTS } from './counts.ts';
import { FOLDERS, type Folder, type WrittenFolder } from './folder.ts';
import { snoozeOwner } from './snooze.ts';

/** Number of conversations, and number of those with an unseen message. */
interface Counted {
  total: number;
  unread: number;
}

type Bucket = { id: string; title: string; color: string } & Counted;

/** Counts of the conversations that the caller may read. */
interface Overview extends Counted {
  /** Number of conversations whose newest message arrived today (UTC), and in the last seven days. */
  today: number;
  week: number;
  snoozed: number;
  awaiting_reply: number;
  scheduled_pending: number;
  folders: ({ folder: Folder } & Counted)[];
  mailboxes: ({ id: string; email: string; name: string } & Counted)[];
  /** Tags of mailboxes. */
  tags: Bucket[];
  categories: Bucket[];
  generated_at: Date;
  window_today_start: Date;
  window_week_start: Date;
}

/** Maximum number of categories and of tags that are counted. Later ones in the list are left out. */
const MAX_BUCKETS = 100;
/** Maximum number of sent emails that are counted. */
const MAX_SENT = 10_000;

/**
 * Counts conversations by folder, mailbox, tag and category. In `sent` and `drafts` it counts emails. A conversation in
 * two mailboxes is counted in both. A conversation in spam or trash is counted only in its folder.
 */
export async function readOverview(ctx: Ctx): Promise<Overview> {
  const org = reader(ctx);
  const now = ctx.clock.now();
  const today = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
  const week = new Date(today.getTime() - 6 * DAY_MS);
  const mailboxes = ctx.actor.allowedMailboxes;
  const narrow = (column: string) => (mailboxes ? `and ${column} = any(cast(:mailboxes as uuid[]))` : '');
  const bound: Bindings = mailboxes ? { mailboxes } : {};
  const among = narrow('mailbox_id');
  const counted = (condition: string): string =>
    `(select mailbox_id, label_id, conversations as total, unread from (${COUNTS}) c where ${condition} ${among})`;
  const [folders, boxes, tags, categories, [sums]] = await Promise.all([
    org.sql<{ folder: Folder; answered: number } & Counted>(
      `select filed as folder, sum(conversations)::int as total, sum(unread)::int as unread, sum(answered)::int as answered
       from (${COUNTS}) c where label_id is null ${among} group by filed` as `${string}:org${string}`,
      bound,
    ),
    org.sql<{ id: string; email: string; name: string } & Counted>(
      `select b.id, b.email, b.name, coalesce(sum(c.total), 0)::int as total, coalesce(sum(c.unread), 0)::int as unread
       from mailboxes b left join ${counted(`label_id is null and filed in ('inbox', 'archive')`)} c on c.mailbox_id = b.id
       where b.organization_id = :org ${narrow('b.id')} group by b.id order by b.email, b.id`,
      bound,
    ),
    org.sql<Bucket>(
      `select l.id, l.title, l.color, coalesce(sum(c.total), 0)::int as total, coalesce(sum(c.unread), 0)::int as unread
       from labels l left join mailbox_tags g on g.label_id = l.id
       left join ${counted(`label_id is null and filed in ('inbox', 'archive')`)} c on c.mailbox_id = g.mailbox_id
       where l.organization_id = :org and l.registry = 'tag' group by l.id order by l.position, l.id limit ${MAX_BUCKETS}`,
      bound,
    ),
    org.sql<Bucket>(
      `select l.id, l.title, l.color, coalesce(sum(c.total), 0)::int as total, coalesce(sum(c.unread), 0)::int as unread
       from labels l left join ${counted('label_id is not null')} c on c.label_id = l.id
       where l.organization_id = :org and l.registry = 'category' group by l.id order by l.position, l.id limit ${MAX_BUCKETS}`,
      bound,
    ),
    org.sql<Pick<Overview, 'today' | 'week' | 'snoozed' | 'scheduled_pending'> & Record<WrittenFolder, number>>(
      `select
         (select count(*) from inbox_threads where organization_id = :org and filed in ('inbox', 'archive') and newest_at >= :today ${among})::int as today,
         (select count(*) from inbox_threads where organization_id = :org and filed in ('inbox', 'archive') and newest_at >= :week ${among})::int as week,
         (select count(*) from thread_snoozes where organization_id = :org and owner_id = :owner and snoozed_until > :now)::int as snoozed,
         (select count(*) from direct_sends where organization_id = :org and state in ('awaiting_approval', 'queued') ${among})::int as scheduled_pending,
         (select count(*) from email_drafts where organization_id = :org ${among})::int as drafts,
         (select count(*) from (select from sends where organization_id = :org and state in ${SENT_STATES} and mailbox_id is not null ${among} limit ${MAX_SENT}) s)::int as sent`,
      { ...bound, today, week, owner: snoozeOwner(ctx.actor), now },
    ),
  ]);
  const { sent, drafts, ...numbers } = sums!;
  const ofFolder = FOLDERS.map((folder) => ({
    folder,
    total: { sent, drafts }[folder as WrittenFolder] ?? 0,
    unread: 0,
    answered: 0,
    ...folders.find((row) => row.folder === folder),
  }));
  const shown = ofFolder.filter(({ folder }) => folder === 'inbox' || folder === 'archive');
  return {
    ...numbers,
    total: shown.reduce((sum, { total }) => sum + total, 0),
    unread: shown.reduce((sum, { unread }) => sum + unread, 0),
    awaiting_reply: shown.reduce((sum, { answered }) => sum + answered, 0),
    folders: ofFolder.map(({ folder, total, unread }) => ({ folder, total, unread })),
    mailboxes: boxes,
    tags,
    categories,
    generated_at: now,
    window_today_start: today,
    window_week_start: week,
  };
}
