import { QueryClient, type Query } from '@tanstack/react-query';
import {
  createHeron,
  dataOf,
  eachOf,
  executedOf,
  HeronError,
  type BodyOf,
  type paths,
} from '../../../client/src/index.ts';
import { accessToken, sendSignedIn } from './session.ts';

/** Client of the API of the server that served this page. All data is read and written through this client. */
export const heron = createHeron({
  baseUrl: window.location.origin,
  key: accessToken,
  fetch: sendSignedIn,
  retries: 2,
  // Maximum wait (ms) before a retry. For a longer wait the error is returned at once, so that the person sees the wait
  // time.
  maxPauseMs: 5_000,
});

/** Answer type of a GET, such as `AnswerOf<'/v1/campaigns/{id}'>`. */
export type AnswerOf<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Answer } } } };
}
  ? Answer
  : never;

/** Row type of a paged list, such as `RowOf<'/v1/campaigns'>`. */
export type RowOf<Path extends keyof paths> = AnswerOf<Path> extends { data: (infer Row)[] } ? Row : never;

/** Query type of a GET, such as `QueryOf<'/v1/campaigns'>`. */
export type QueryOf<Path extends keyof paths> = paths[Path] extends { get: { parameters: { query?: infer Query } } }
  ? NonNullable<Query>
  : never;

/** Row type of a search by POST, such as `FoundBy<'/v1/lead-database/people'>`. */
export type FoundBy<Path extends keyof paths> = paths[Path] extends {
  post: { responses: { 200: { content: { 'application/json': { data: (infer Row)[] } } } } };
}
  ? Row
  : never;

/** Answer type of a POST that computes something, such as `ResultOf<'/v1/crm/deals/summary'>`. */
export type ResultOf<Path extends keyof paths> = paths[Path] extends {
  post: { responses: { 200: { content: { 'application/json': infer Result } } } };
}
  ? Result
  : never;

/** Maximum number of loaded pages of a list that is still refetched. */
const SHORT_PAGES = 5;

/**
 * Returns true if a refetch takes only a few requests. A long list takes one request per loaded page, so it is not
 * refetched.
 */
export function isShort({ state }: Pick<Query, 'state'>): boolean {
  const { pages } = (state.data ?? {}) as { pages?: unknown[] };
  return (pages?.length ?? 0) <= SHORT_PAGES;
}

/** Client of all queries. Their data is refetched after an event (live.ts), or if it is older than half a minute. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      gcTime: 10 * 60_000,
      retry: (count, error) => !(error instanceof HeronError && error.status < 500) && count < 1,
      refetchOnWindowFocus: isShort,
      refetchOnMount: isShort,
    },
    mutations: { retry: false },
  },
});

export { dataOf, executedOf, eachOf, HeronError, type BodyOf };
