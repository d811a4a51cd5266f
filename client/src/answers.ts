import { HeronError } from './errors.ts';

/** Answer of the client: the data or the error. */
interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/**
 * Returns the data of an answer.
 * @throws HeronError when the answer is an error
 */
export async function dataOf<T>(answer: Promise<Answer<T>>): Promise<NonNullable<T>> {
  const { data, error, response } = await answer;
  if (!response.ok) throw new HeronError(response.status, error);
  return data as NonNullable<T>;
}

interface Page<T> {
  data: T[];
  pagination: { next_cursor: string | null };
}

/**
 * Yields every row of a paged list, page after page.
 * @param askFor fetches a page by its cursor; undefined for the first
 * @throws HeronError when a page is refused
 */
export async function* eachOf<T>(
  askFor: (cursor: string | undefined) => Promise<Answer<Page<T>>>,
): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined;
  do {
    const page: Page<T> = await dataOf(askFor(cursor));
    yield* page.data;
    cursor = page.pagination.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** Returns all rows of a paged list in memory. See {@link eachOf}. */
export async function allOf<T>(askFor: (cursor: string | undefined) => Promise<Answer<Page<T>>>): Promise<T[]> {
  const rows: T[] = [];
  for await (const row of eachOf(askFor)) rows.push(row);
  return rows;
}
