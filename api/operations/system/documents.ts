import type { Middleware } from 'koa';
import { serveReference } from './reference/page.ts';

/**
 * Serves /openapi.json, and the API reference that is drawn from it at /docs. The document is made when it is first asked
 * for, so that a process that is never asked starts sooner.
 * @param folder where the bundle of the reference is, if not beside its page
 */
export function documents(makeDocument: () => object, folder?: URL): Middleware {
  let text: string | undefined;
  return (koa, next) => {
    if (koa.method !== 'GET') return next();
    if (koa.path === '/openapi.json') {
      koa.type = 'application/json';
      koa.body = text ??= JSON.stringify(makeDocument());
      return undefined;
    }
    return serveReference(koa, folder) ? undefined : next();
  };
}
