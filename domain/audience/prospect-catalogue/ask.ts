import { CatalogueError } from '../../../db/catalogue/reader.ts';
import { AppError } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import type { Deps } from '../../platform/kernel/context.ts';
import type { Conditions } from '../../platform/conditions.ts';

/**
 * Asks the catalogue.
 * @throws AppError b2b_unavailable without one, b2b_query_failed when it gives no answer
 */
export async function askCatalogue<Row>(
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

/** How many rows of a walk cost as much as one that an index of a filter finds: those of a walk stand together. */
const WALKED_PER_FOUND = 5;

/** A search in the order of one of the tables. */
interface OrderedSearch {
  table: 'catalogue_people' | 'catalogue_companies';
  /** Columns of the order, the last one the id; their values are never null. */
  order: readonly string[];
  columns: string;
  where: Conditions;
  /** What follows from `where`, for the indexes of the filters alone. */
  lookup: readonly string[];
  /** Equalities by which an index of the order begins, so that the walk passes over nothing else; by column. */
  fixed: Readonly<Record<string, string>>;
  /** Whether few rows can match, so that the walk would be in vain. */
  isRare: boolean;
  /** Whether so many filters beside `fixed` hold that hardly any row of a long walk would match, and the indexes find few. */
  isNarrow: boolean;
  /** After this position, in the columns of the order. */
  after: readonly (string | number)[] | undefined;
  limit: number;
  /** Rows of the table. */
  total: number;
}

/**
 * The first rows of a search. Where matches are frequent, walking along the order finds a page after few rows; where they are rare, the indexes of the
 * filters find all of them, which are then sorted. How frequent they are is not estimated but tried: a walk of bounded length comes first. Where a share f of all rows
 * matches, a walk finds a page after limit / f rows, and the indexes find total * f: the bound is where both cost the same.
 */
export async function searchInOrder<Row>(
  deps: Pick<Deps, 'catalogue' | 'log'>,
  { table, order, columns, where, lookup, fixed, isRare, isNarrow, after, limit, total }: OrderedSearch,
): Promise<Row[]> {
  const bindings: Record<string, unknown> = { ...where.bindings, page_rows: limit };
  // A column that is the same in every row is no part of the order: with it, the planner sorts the whole walk anew before the first row of the page.
  const free = order.flatMap((column, index) => (column in fixed ? [] : [{ column, value: after?.[index] }]));
  const places = free.map(({ value }, index) => {
    bindings[`after${index}`] = value;
    return `cast(:after${index} as ${typeof value === 'number' ? 'integer' : 'text'})`;
  });
  const by = free.map(({ column }) => column).join(', ');
  const beyond = after ? [`(${by}) > (${places.join(', ')})`] : [];
  const range = ['true', ...Object.values(fixed), ...beyond].join(' and ');
  const shortest = deps.catalogue?.shortestWalk ?? 0;
  // Rows of a town or a region stand far from each other, and each costs as much as one that an index finds.
  const isShort = isNarrow || 'city_key' in fixed || 'state_key' in fixed;
  bindings.walk_rows = isShort ? shortest : Math.max(shortest, Math.round(Math.sqrt(WALKED_PER_FOUND * limit * total)));
  let walked: Row[] = [];
  if (!isRare) {
    // Nothing is pushed below a limit, so the walk ends after its rows, whatever matches.
    walked = await askCatalogue<Row>(
      deps,
      `select ${columns} from (
         select * from ${table} where ${range} order by ${by} limit :walk_rows
       ) walk where ${where.all()} order by ${by} limit :page_rows`,
      bindings,
    );
    if (walked.length === limit) return walked;
  }
  // A walk that came to the end of its range has seen every match. PostgreSQL asks that first, in an index, and then does nothing more. The whole table is
  // longer than a walk.
  const isCut =
    isRare || Object.keys(fixed).length === 0 ? [] : [`exists (select from ${table} where ${range} offset :walk_rows)`];
  // `offset 0` hides the order from the planner, which would walk along it otherwise.
  const found = await askCatalogue<Row>(
    deps,
    `select ${columns} from (
       select * from ${table} where ${[where.all(), ...lookup, ...beyond, ...isCut].join(' and ')} offset 0
     ) matching order by ${by} limit :page_rows`,
    bindings,
  );
  return found.length === 0 ? walked : found;
}
