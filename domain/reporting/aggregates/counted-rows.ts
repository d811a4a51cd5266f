import type { Bindings } from '../../../db/statement.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { pageOf, type Page } from '../../../lib/cursor.ts';

/**
 * Position of the row after which a page starts: its id, and in lists by time also its time in PostgreSQL's text form.
 */
interface CountedPlace {
  id: string;
  at?: string;
}

/**
 * Returns a page of the rows that a number of a report counts, in order of id or newest first, with their number
 * (`total`).
 * @param counted SQL that selects each row once, with `id`, `contact_id` and, for lists by time, `at`. Several selects
 * are parts of one list, each read in order from its own index, because PostgreSQL would sort their union
 * @param columns SQL columns of a row `b` and of its contact `k`
 * @param page `total`: the number of rows, if known without counting
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
