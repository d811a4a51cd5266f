import { across } from '../../../db/across.ts';
import type { Deps } from '../../platform/kernel/context.ts';

const PAGE = 500;

/**
 * Makes messages searchable that were there before searching was: newest first, in pages, each its own transaction. Their numbers go down
 * from zero, so that they stand behind all that came since. Returns how many.
 */
export async function indexMessages({ db }: Pick<Deps, 'db'>): Promise<number> {
  for (let done = 0; ;) {
    const { rowCount } = await across(db, 'maintenance').run(
      `with page as materialized (
         select m.* from inbound_messages m where not m.is_indexed order by m.id desc limit ${PAGE} for update skip locked
       ), indexed as materialized (
         select p.id, index_message(p.*, nextval('message_words_earlier')) from (select m.* from inbound_messages m join page using (id) order by m.id desc) p
       )
       update inbound_messages m set is_indexed = true from indexed where m.id = indexed.id`,
      {},
    );
    done += rowCount;
    if (rowCount < PAGE) return done;
  }
}
