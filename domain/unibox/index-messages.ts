import { across } from '../../db/across.ts';
import type { Deps } from '../kernel/context.ts';

const PAGE = 500;

/**
 * Makes messages searchable that were there before searching was: in pages, each its own transaction.
 * @param onPage called after each page with the messages so far
 */
export async function indexMessages(
  { db }: Pick<Deps, 'db'>,
  onPage: (done: number) => void = () => {},
): Promise<number> {
  for (let done = 0; ;) {
    const { rowCount } = await across(db, 'maintenance').run(
      `update inbound_messages set words = inbound_message_words(subject, from_name, from_email, body_plain)
       where id = any(array(select id from inbound_messages where words is null order by id limit ${PAGE} for update skip locked))`,
      {},
    );
    done += rowCount;
    onPage(done);
    if (rowCount < PAGE) return done;
  }
}
