import createClient, { type Client } from 'openapi-fetch';
import { paced, retrying, type RetryOptions } from './retry.ts';
import type { paths } from './schema.ts';

export interface HeronOptions extends RetryOptions {
  /** URL of the API without /v1, such as https://heron.example.com. */
  baseUrl: string;
  /** API key or access token, or a function that returns it. The function is called before each request. */
  key: string | (() => string | Promise<string>);
  /** Function that sends requests. Defaults to `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
}

/** Client with every endpoint of Heron by method and path, typed by parameters, body and answer. */
export type Heron = Client<paths>;

/** Type of the JSON body of an endpoint, such as `BodyOf<'/v1/campaigns', 'post'>`. */
export type BodyOf<Path extends keyof paths, Method extends keyof paths[Path]> = paths[Path][Method] extends {
  requestBody?: { content: { 'application/json': infer Body } };
}
  ? Body
  : never;

/**
 * Creates a client. Writes without an Idempotency-Key get one. So a write can be retried without a second effect if the
 * server is busy or its answer was lost. An answer is `{ data }` or `{ error }`, each with its `response`; `dataOf`
 * returns the data or throws.
 */
export function createHeron({ baseUrl, key, fetch = globalThis.fetch, ...retries }: HeronOptions): Heron {
  const client = createClient<paths>({ baseUrl, fetch: retrying(paced(fetch, retries), retries) });
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
