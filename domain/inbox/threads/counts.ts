import { across } from '../../../db/across.ts';
import type { Deps } from '../../platform/kernel/context.ts';

const PAGE = 5_000;

/**
 * SQL for the counts of a workspace's conversations. Selects rows of (mailbox_id, filed, label_id, conversations,
 * unread, answered). A count is the sum of all rows with the same mailbox, folder and label. Rows without a label count
 * all conversations of a mailbox in a folder. Rows with a label count only those in inbox and archive.
 */
export const COUNTS = `
  select mailbox_id, filed, label_id, conversations, unread, answered from inbox_counts where organization_id = :org
  union all
  select mailbox_id, filed, label_id, conversations, unread, answered from inbox_count_changes where organization_id = :org`;

/**
 * Adds pending changes to the stored counts, so that a read finds few rows. Processes pages of one statement each. A
 * concurrent reader therefore finds each change in exactly one of the two tables.
 * @returns number of processed changes
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
