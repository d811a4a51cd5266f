import { across } from '../../../db/across.ts';
import type { Deps } from '../../platform/kernel/context.ts';

const PAGE = 5_000;

/**
 * SQL of the counts of a workspace's conversations: rows of (mailbox_id, filed, label_id, conversations, unread, answered), of which those of
 * one key add up to its count. Without a label they count all conversations of a mailbox in a folder; with one, those in inbox and archive.
 */
export const COUNTS = `
  select mailbox_id, filed, label_id, conversations, unread, answered from inbox_counts where organization_id = :org
  union all
  select mailbox_id, filed, label_id, conversations, unread, answered from inbox_count_changes where organization_id = :org`;

/**
 * Adds up what has changed since, so that a read of the counts finds few rows. In pages, each one statement: whoever reads meanwhile
 * finds a change either in one table or in the other.
 * @returns how many changes were added up
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
