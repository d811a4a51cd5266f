import { DAY_MS } from '../../lib/clock.ts';
import type { Bindings } from '../../db/statement.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader } from '../kernel/transact.ts';
import { FOLDERS, type Folder } from './folder.ts';
import { snoozeOwner } from './snooze.ts';

/** Conversations: all of them, and those with a message that is not marked as seen. */
export interface Counted {
  total: number;
  unread: number;
}

/** Counts of the conversations that the caller may read. */
export interface Overview extends Counted {
  /** Whose newest message came today, or in the last seven days, UTC. */
  today: number;
  week: number;
  snoozed: number;
  awaiting_reply: number;
  scheduled_pending: number;
  folders: ({ folder: Folder } & Counted)[];
  mailboxes: ({ id: string; email: string; name: string } & Counted)[];
  categories: ({ id: string; title: string; color: string } & Counted)[];
  generated_at: Date;
  window_today_start: Date;
  window_week_start: Date;
}

/** Categories that are counted, in their order. */
const MAX_CATEGORIES = 100;

/**
 * How many conversations there are, by folder, mailbox and category. A conversation that came to two mailboxes counts in each; one in
 * spam or trash counts only in its folder.
 */
export async function readOverview(ctx: Ctx): Promise<Overview> {
  const org = reader(ctx);
  const now = ctx.clock.now();
  const today = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
  const week = new Date(today.getTime() - 6 * DAY_MS);
  const mailboxes = ctx.actor.allowedMailboxes;
  const narrow = (column: string) => (mailboxes ? `and ${column} = any(cast(:mailboxes as uuid[]))` : '');
  const bound: Bindings = mailboxes ? { mailboxes } : {};
  const [folders, boxes, categories, [sums]] = await Promise.all([
    org.sql<{ folder: Folder } & Counted>(
      `select filed as folder, count(*)::int as total, count(*) filter (where unseen_count > 0 or not seen)::int as unread
       from inbox_threads where organization_id = :org ${narrow('mailbox_id')} group by filed`,
      bound,
    ),
    org.sql<{ id: string; email: string; name: string } & Counted>(
      `select b.id, b.email, b.name, coalesce(t.total, 0) as total, coalesce(t.unread, 0) as unread from mailboxes b left join (
         select mailbox_id, count(*)::int as total, count(*) filter (where unseen_count > 0)::int as unread
         from inbox_threads where organization_id = :org and filed in ('inbox', 'archive') ${narrow('mailbox_id')} group by mailbox_id
       ) t on t.mailbox_id = b.id where b.organization_id = :org ${narrow('b.id')} order by b.email, b.id`,
      bound,
    ),
    org.sql<{ id: string; title: string; color: string } & Counted>(
      `select l.id, l.title, l.color, coalesce(t.total, 0) as total, coalesce(t.unread, 0) as unread from labels l left join (
         select k.label_id, count(*)::int as total, count(*) filter (where t.unseen_count > 0)::int as unread
         from thread_labels k join inbox_threads t on t.organization_id = k.organization_id and t.thread_id = k.thread_id
         where k.organization_id = :org and t.filed in ('inbox', 'archive') ${narrow('t.mailbox_id')} group by k.label_id
       ) t on t.label_id = l.id where l.organization_id = :org and l.registry = 'category' order by l.position, l.id limit ${MAX_CATEGORIES}`,
      bound,
    ),
    org.sql<Pick<Overview, 'today' | 'week' | 'snoozed' | 'awaiting_reply' | 'scheduled_pending'>>(
      `select
         (select count(*) from inbox_threads where organization_id = :org and filed in ('inbox', 'archive') and newest_at >= :today ${narrow('mailbox_id')})::int as today,
         (select count(*) from inbox_threads where organization_id = :org and filed in ('inbox', 'archive') and newest_at >= :week ${narrow('mailbox_id')})::int as week,
         (select count(*) from inbox_threads where organization_id = :org and is_answered and filed in ('inbox', 'archive') ${narrow('mailbox_id')})::int as awaiting_reply,
         (select count(*) from thread_snoozes where organization_id = :org and owner_id = :owner and snoozed_until > :now)::int as snoozed,
         (select count(*) from direct_sends where organization_id = :org and state in ('awaiting_approval', 'queued') ${narrow('mailbox_id')})::int as scheduled_pending`,
      { ...bound, today, week, owner: snoozeOwner(ctx.actor), now },
    ),
  ]);
  const ofFolder = FOLDERS.map((folder) => ({
    folder,
    total: 0,
    unread: 0,
    ...folders.find((row) => row.folder === folder),
  }));
  const shown = ofFolder.filter(({ folder }) => folder === 'inbox' || folder === 'archive');
  return {
    ...sums!,
    total: shown.reduce((sum, { total }) => sum + total, 0),
    unread: shown.reduce((sum, { unread }) => sum + unread, 0),
    folders: ofFolder,
    mailboxes: boxes,
    categories,
    generated_at: now,
    window_today_start: today,
    window_week_start: week,
  };
}
