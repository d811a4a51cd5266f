import { ApprovalNeeded, HeronError } from './errors.ts';
import type { Schemas } from './schema.ts';

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

type AwaitingApproval = Schemas['AwaitingApproval'];

/**
 * Returns the data of a request that may need a person's approval. For example, an API key adds leads to a sending
 * campaign.
 * @throws HeronError when the answer is an error
 * @throws ApprovalNeeded when a person has to approve first
 */
export async function executedOf<T>(answer: Promise<Answer<T>>): Promise<Exclude<NonNullable<T>, AwaitingApproval>> {
  const data = await dataOf(answer);
  if (isAwaiting(data)) throw new ApprovalNeeded(data.approval_id, data.approval_url);
  return data as Exclude<NonNullable<T>, AwaitingApproval>;
}

function isAwaiting(data: unknown): data is AwaitingApproval {
  return (data as Partial<AwaitingApproval>).result === 'awaiting_approval';
}

interface Page<T> {
  data: T[];
  pagination: { next_cursor: string | null };
}

/**
 * Yields every row of a paged list, page after page.
 * @param askFor function that fetches a page by its cursor, which is undefined for the first page
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
