import type { OrgScope } from '../../db/tenancy.ts';
import { decodeCursor, encodeCursor, isTimestampText, pageOf, type Page, type PageRequest } from '../../lib/cursor.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Conditions } from '../platform/conditions.ts';

/**
 * An SQL expression by which a search is sorted, and its type. The expression is never null, and an index covers it
 * together with the id.
 */
export interface SortKey {
  expression: string;
  type: 'text' | 'timestamptz' | 'bigint' | 'integer';
}

const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');
const isCount = (value: unknown): value is string => typeof value === 'string' && /^-?\d{1,19}$/.test(value);
const IS_KEY: Record<SortKey['type'], (value: unknown) => value is string> = {
  text: isText,
  timestamptz: (value): value is string => value === '-infinity' || isTimestampText(value),
  bigint: isCount,
  integer: (value): value is string => typeof value === 'string' && /^\d$/.test(value),
};

/** Parameters of one page of a search. */
interface Search {
  /** Name and filters of the search. The cursor is valid only for the same ones. */
  list: string;
  bound: unknown;
  sort: SortKey;
  ascending: boolean;
  where: Conditions;
  /** The table with its alias, which `where` and the sort expression use. */
  from: `${string} ${string}`;
  /**
   * SQL of the select list and joins. In them, the rows of the page are available as `p`, with all columns of the
   * table.
   */
  columns: string;
  joins: string;
}

/**
 * Returns a page of a search. The cursor identifies the last row. Later pages therefore take no longer than the first
 * one, and no row is missed or repeated if others are added.
 * @throws AppError bad_request for the cursor of another search
 */
export async function searchPage<Found extends { id: string }>(
  org: OrgScope,
  page: PageRequest,
  search: Search,
): Promise<Page<Found>> {
  const { sort, ascending, where, from } = search;
  const at = decodeCursor<[key: string, id: string]>(search.list, search.bound, page.cursor, [
    IS_KEY[sort.type],
    isUuid,
  ]);
  const alias = from.split(' ')[1]!;
  const direction = ascending ? 'asc' : 'desc';
  const behind = at
    ? `and (${sort.expression}, ${alias}.id) ${ascending ? '>' : '<'} (cast(:atKey as ${sort.type}), cast(:atId as uuid))`
    : '';
  const rows = await org.sql<Found & { sort_key: string }>(
    `select ${search.columns}, cast(p.page_key as text) as sort_key
     from (select ${alias}.*, ${sort.expression} as page_key from ${from}
       where ${alias}.organization_id = :org and ${where.all()} ${behind}
       order by ${sort.expression} ${direction}, ${alias}.id ${direction} limit :limit) p ${search.joins}
     order by p.page_key ${direction}, p.id ${direction}`,
    { ...where.bindings, limit: page.limit + 1, ...(at ? { atKey: at[0], atId: at[1] } : {}) },
  );
  return pageOf(rows as Found[], page.limit, (last) =>
    encodeCursor(search.list, search.bound, [(last as unknown as { sort_key: string }).sort_key, last.id]),
  );
}
