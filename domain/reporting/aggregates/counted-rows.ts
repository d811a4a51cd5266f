import type { Bindings } from '../../../db/statement.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { pageOf, type Page } from '../../../lib/cursor.ts';

/** Where a page begins: behind the row with this id, and of this moment (as PostgreSQL writes it) in lists by time. */
interface CountedPlace {
  id: string;
  at?: string;
}

/**
 * A page of the rows that a figure counts, by id or the newest first, and how many it counts (`total`).
 * @param counted selects the rows, each once, with `id`, `contact_id` and, for lists by time, `at`; several selects are parts of one list, of which
 *   each is read in order from its own index: PostgreSQL would sort all of them together
 * @param columns what is read of a row `b` and of its contact `k`
 * @param page `total`: how many rows there are, where that is known without counting them
 */
export async function readCountedRows<Row extends { id: string }>(
  org: OrgScope,
  counted: string | readonly string[],
  columns: string,
  bindings: Bindings,
  page: {
    after: CountedPlace | undefined;
    limit: number;
    cursorFor: (last: Row & { place: string }) => string;
    newestFirst?: boolean;
    total?: number | undefined;
  },
): Promise<Page<Row>> {
  const { after, limit, newestFirst = false } = page;
  const beyond = newestFirst
    ? 'b.at <= :afterAt::timestamptz and (b.at, b.id) < (:afterAt::timestamptz, :after::uuid)'
    : 'b.id > :after';
  const order = `order by ${newestFirst ? 'b.at desc, b.id desc' : 'b.id'} limit :limit`;
  const parts = typeof counted === 'string' ? [counted] : counted;
  const wanted = parts.map((part) => `select * from (${part}) b where true ${after ? `and ${beyond}` : ''} ${order}`);
  const all = parts.join(' union all ');
  const [rows, [counts]] = await Promise.all([
    org.sql<Row & { place: string }>(
      `select ${columns}${newestFirst ? ', b.at::text as place' : ''} from (${wanted.map((part) => `(${part})`).join(' union all ')}) b left join contacts k on k.id = b.contact_id
       where :org::uuid is not null ${order}`,
      {
        ...bindings,
        limit: limit + 1,
        ...(after ? { after: after.id } : {}),
        ...(after && newestFirst ? { afterAt: after.at ?? null } : {}),
      },
    ),
    page.total === undefined
      ? org.sql<{ count: number }>(
          `select count(*)::int as count from (${all}) b where :org::uuid is not null`,
          bindings,
        )
      : [{ count: page.total }],
  ]);
  return { ...pageOf(rows, limit, page.cursorFor), total: counts!.count };
}
