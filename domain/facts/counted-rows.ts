import type { Bindings } from '../../db/statement.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { pageOf, type Page } from '../../lib/cursor.ts';

/**
 * A page, by id, of the rows that a figure counts, and how many it counts (`total`).
 * @param counted selects the rows, each once, with `id` and `contact_id`
 * @param columns what is read of a row `b` and of its contact `k`
 * @param page `after`: the id behind which the page begins
 */
export async function readCountedRows<Row extends { id: string }>(
  org: OrgScope,
  counted: string,
  columns: string,
  bindings: Bindings,
  page: { after: string | undefined; limit: number; cursorFor: (last: Row) => string },
): Promise<Page<Row>> {
  const { after, limit } = page;
  const [rows, [total]] = await Promise.all([
    org.sql<Row>(
      `select ${columns} from (${counted}) b left join contacts k on k.id = b.contact_id
       where :org::uuid is not null ${after ? 'and b.id > :after' : ''} order by b.id limit :limit`,
      { ...bindings, limit: limit + 1, ...(after ? { after } : {}) },
    ),
    org.sql<{ count: number }>(
      `select count(*)::int as count from (${counted}) b where :org::uuid is not null`,
      bindings,
    ),
  ]);
  return { ...pageOf(rows, limit, page.cursorFor), total: total!.count };
}
