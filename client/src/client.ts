import createClient, { type Client } from 'openapi-fetch';
import { retrying, type RetryOptions } from './retry.ts';
import type { paths } from './schema.ts';

export interface HeronOptions extends RetryOptions {
  /** Where the API is, without /v1, such as https://heron.example.com. */
  baseUrl: string;
  /** An API key or an access token; a function is asked before each request. */
  key: string | (() => string | Promise<string>);
  /** What sends requests; `fetch` unless given. */
  fetch?: (request: Request) => Promise<Response>;
}

/** Every endpoint of Heron by method and path, with the types of its parameters, body and answer. */
export type Heron = Client<paths>;

/** The JSON body that an endpoint takes, such as `BodyOf<'/v1/campaigns', 'post'>`. */
export type BodyOf<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method] extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : never;

/**
 * A client of one Heron. Writes carry an Idempotency-Key unless they bring one, so a request that had no answer, or met a busy server, is sent
 * again without being done twice. An answer is `{ data }` or `{ error }`, each with its `response`; `dataOf` gives the data or throws.
 */
export function createHeron({ baseUrl, key, fetch = globalThis.fetch, ...retries }: HeronOptions): Heron {
  const client = createClient<paths>({ baseUrl, fetch: retrying(fetch, retries) });
  client.use({
    async onRequest({ request }) {
      request.headers.set('authorization', `Bearer ${typeof key === 'string' ? key : await key()}`);
      if (!isRead(request.method) && !request.headers.has('idempotency-key'))
        request.headers.set('idempotency-key', crypto.randomUUID());
      return request;
    },
  });
  return client;
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';
