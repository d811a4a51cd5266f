import { QueryClient, type Query } from '@tanstack/react-query';
import { createHeron, dataOf, eachOf, HeronError, type BodyOf, type paths } from '../../../client/src/index.ts';
import { accessToken, sendSignedIn } from './session.ts';

/** The API of the server that served this page: the only way to any data. */
export const heron = createHeron({
  baseUrl: window.location.origin,
  key: accessToken,
  fetch: sendSignedIn,
  retries: 2,
});

/** What a GET answers, such as `AnswerOf<'/v1/campaigns/{id}'>`. */
export type AnswerOf<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Answer } } } };
}
  ? Answer
  : never;

/** One row of a paged list, such as `RowOf<'/v1/campaigns'>`. */
export type RowOf<Path extends keyof paths> = AnswerOf<Path> extends { data: (infer Row)[] } ? Row : never;

/** One row of what a search by POST finds, such as `FoundBy<'/v1/lead-database/people'>`. */
export type FoundBy<Path extends keyof paths> = paths[Path] extends {
  post: { responses: { 200: { content: { 'application/json': { data: (infer Row)[] } } } } };
}
  ? Row
  : never;

/** Lists of more pages than this are long. */
const SHORT_PAGES = 5;

/** Whether asking again is a few requests at most. A long list takes one for each page that was ever read: it stays as it was read. */
export function isShort({ state }: Pick<Query, 'state'>): boolean {
  const { pages } = (state.data ?? {}) as { pages?: unknown[] };
  return (pages?.length ?? 0) <= SHORT_PAGES;
}

/** Queries are kept while they are looked at, and asked again when something happened (live.ts) or after half a minute. */
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

export { dataOf, eachOf, HeronError, type BodyOf };
