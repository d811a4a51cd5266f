import { across } from '../../../db/across.ts';
import type { Deps } from '../../platform/kernel/context.ts';

const PAGE = 5_000;

/**
 * SQL: counts of a workspace's conversations, as rows of (mailbox_id, filed, label_id, conversations, unread,
 * answered). A count is the sum of the rows of one key. Rows without a label count all conversations of a mailbox in a
 * folder. Rows with a label count only those in inbox and archive.
 */
export const COUNTS = `
  select mailbox_id, filed, label_id, conversations, unread, answered from inbox_counts where organization_id = :org
  union all
  select mailbox_id, filed, label_id, conversations, unread, answered from inbox_count_changes where organization_id = :org`;

/**
 * Folds the pending changes into the counts, so that a read finds few rows. Runs in pages of one statement each, so
 * that concurrent readers find a change either in one table or in the other.
 * @returns number of folded changes
 */
export async function foldCountChanges({ db }: Pick<Deps, 'db'>): Promise<number> {
  for (let done = 0; ;) {
    const [page] = await across(db, 'maintenance').sql<{ changes: number }>(
      `with page as materialized (
         select id from inbox_count_changes order by id limit ${PAGE} for update skip locked
       ), gone as (
         delete from inbox_count_changes c using page where c.id = page.id returning c.*
       ), added as (
         insert into inbox_counts as n (organization_id, mailbox_id, filed, label_id, conversations, unread, answered)
         select organization_id, mailbox_id, filed, label_id, sum(conversations), sum(unread), sum(answered) from gone
         group by organization_id, mailbox_id, filed, label_id order by organization_id, mailbox_id, filed, label_id
         on conflict on constraint inbox_counts_key do update set conversations = n.conversations + excluded.conversations,
           unread = n.unread + excluded.unread, answered = n.answered + excluded.answered
       )
       select count(*)::int as changes from gone`,
      {},
    );
    done += page!.changes;
    if (page!.changes < PAGE) return done;
  }
}
