import { CatalogueError } from '../../../db/catalogue/reader.ts';
import { AppError } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import type { Conditions } from '../../platform/conditions.ts';

/**
 * Runs a query on the catalogue.
 * @throws AppError b2b_unavailable without a catalogue, b2b_query_failed when the query fails
 */
export async function queryCatalogue<Row>(
  { catalogue, log }: Pick<Deps, 'catalogue' | 'log'>,
  text: string,
  bindings: Readonly<Record<string, unknown>> = {},
): Promise<Row[]> {
  if (!catalogue) throw unavailable('audience.no_catalogue');
  try {
    return await catalogue.query<Row>(text, bindings);
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error;
    log.warn({ reason: error.reason }, 'the prospect catalogue gave no answer');
    if (error.reason === 'missing') throw unavailable('audience.catalogue_empty', error);
    throw new AppError('b2b_query_failed', message('audience.catalogue_slow'), {
      fix: message('audience.catalogue_slow.fix'),
      cause: error,
    });
  }
}

function unavailable(code: 'audience.no_catalogue' | 'audience.catalogue_empty', cause?: unknown): AppError {
  return new AppError('b2b_unavailable', message(code), { fix: message(`${code}.fix`), cause });
}

/**
 * Number of rows that a scan in list order reads in the time of one row found by a filter's index. Rows in list order
 * are adjacent on disk.
 */
const WALKED_PER_FOUND = 5;

/** A search in one of the tables, with the order of its results. */
interface OrderedSearch {
  table: 'catalogue_people' | 'catalogue_companies';
  /** Columns of the order, ending with the id; their values are never null. */
  order: readonly string[];
  columns: string;
  where: Conditions;
  /** Additional conditions that follow from `where`, used only to find rows by the filters' indexes. */
  lookup: readonly string[];
  /**
   * Equality conditions on the leading columns of an order's index, by column. A scan in list order reads only rows
   * that satisfy these conditions.
   */
  fixed: Readonly<Record<string, string>>;
  /** True if only few rows can match. A scan in list order is then not tried. */
  isRare: boolean;
  /**
   * True if so many filters apply in addition to `fixed` that a long scan in list order would find hardly any row. The
   * indexes then find few rows.
   */
  isNarrow: boolean;
  /** Position after which the page starts, as values of the order's columns. */
  after: readonly (string | number)[] | undefined;
  limit: number;
  /** Number of rows in the table. */
  total: number;
}

/**
 * Returns the first rows of a search. If matches are frequent, a scan in list order finds a page after few rows. If
 * they are rare, the filters' indexes find all of them, and they are sorted. The frequency is unknown, so a scan of
 * limited length is tried first. For a share f of matching rows, the scan reads limit / f rows and the indexes find
 * total * f rows. The scan is limited to the length at which both cost the same.
 */
export async function searchInOrder<Row>(
  deps: Pick<Deps, 'catalogue' | 'log'>,
  { table, order, columns, where, lookup, fixed, isRare, isNarrow, after, limit, total }: OrderedSearch,
): Promise<Row[]> {
  const bindings: Record<string, unknown> = { ...where.bindings, page_rows: limit };
  // Removes columns with the same value in every row from the order. Otherwise PostgreSQL would sort all rows of the
  // scan first.
  const free = order.flatMap((column, index) => (column in fixed ? [] : [{ column, value: after?.[index] }]));
  const places = free.map(({ value }, index) => {
    bindings[`after${index}`] = value;
    return `cast(:after${index} as ${typeof value === 'number' ? 'integer' : 'text'})`;
  });
  const by = free.map(({ column }) => column).join(', ');
  const beyond = after ? [`(${by}) > (${places.join(', ')})`] : [];
  const range = ['true', ...Object.values(fixed), ...beyond].join(' and ');
  const shortest = deps.catalogue?.shortestWalk ?? 0;
  // Rows of one town or region are scattered over the table, so reading a row in the scan takes as long as finding one
  // by an index.
  const isShort = isNarrow || 'city_key' in fixed || 'state_key' in fixed;
  bindings.walk_rows = isShort ? shortest : Math.max(shortest, Math.round(Math.sqrt(WALKED_PER_FOUND * limit * total)));
  let walked: Row[] = [];
  if (!isRare) {
    // Puts the limit into a subquery, because PostgreSQL moves no conditions into it. The scan therefore reads at most
    // `walk_rows` rows.
    walked = await queryCatalogue<Row>(
      deps,
      `select ${columns} from (
         select * from ${table} where ${range} order by ${by} limit :walk_rows
       ) walk where ${where.all()} order by ${by} limit :page_rows`,
      bindings,
    );
    if (walked.length === limit) return walked;
  }
  // If the scan reached the end of its range, it has found every match, and the second search is not needed. This
  // condition checks if the range is longer than the scan. It is omitted for the whole table, which is always longer.
  const isCut =
    isRare || Object.keys(fixed).length === 0 ? [] : [`exists (select from ${table} where ${range} offset :walk_rows)`];
  // `offset 0` prevents PostgreSQL from scanning the table in this order.
  const found = await queryCatalogue<Row>(
    deps,
    `select ${columns} from (
       select * from ${table} where ${[where.all(), ...lookup, ...beyond, ...isCut].join(' and ')} offset 0
     ) matching order by ${by} limit :page_rows`,
    bindings,
  );
  return found.length === 0 ? walked : found;
}
