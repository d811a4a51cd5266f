import type { Middleware } from 'koa';
import { serveReference } from './reference/page.ts';

/**
 * Serves /openapi.json and the API reference that renders it at /docs.
 * @param document returns the text of the OpenAPI document
 * @param folder folder of the reference's bundle; defaults to the folder of its page
 */
export function documents(document: () => string, folder?: URL): Middleware {
  return (koa, next) => {
    if (koa.method !== 'GET') return next();
    if (koa.path === '/openapi.json') {
      koa.type = 'application/json';
      koa.body = document();
      return undefined;
    }
    return serveReference(koa, folder) ? undefined : next();
  };
}
