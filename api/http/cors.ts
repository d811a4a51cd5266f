import koaCors from '@koa/cors';
import type { Middleware } from 'koa';
import type { Config } from '../../lib/config/index.ts';
import { fullPath, type AnyRoute } from './route.ts';

/** Request headers that a page of another site may send. */
const ALLOWED = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'X-Request-Id',
  'Mcp-Session-Id',
  'Mcp-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'Last-Event-Id',
];
/** Response headers that a page of another site may read. */
const EXPOSED = [
  'X-Request-Id',
  'X-Total-Rows',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Idempotent-Replayed',
  'WWW-Authenticate',
  'Mcp-Session-Id',
];

/**
 * Lets pages of CORS_ALLOW_ORIGINS call every route, and pages of any site the routes with `anyOrigin`. Never allows
 * cookies, so a page must send its own credential.
 */
export function cors(
  { CORS_ALLOW_ORIGINS }: Pick<Config, 'CORS_ALLOW_ORIGINS'>,
  routes: readonly AnyRoute[],
): Middleware {
  const open = new Set(routes.filter(({ anyOrigin }) => anyOrigin).map(fullPath));
  return koaCors({
    origin(koa) {
      if (open.has(koa.path.replace(/\/$/, ''))) return '*';
      const origin = koa.get('origin');
      return CORS_ALLOW_ORIGINS.includes(origin) ? origin : '';
    },
    allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: ALLOWED,
    exposeHeaders: EXPOSED,
    maxAge: 600,
    // `envelope` keeps the headers that are already set when it answers an error.
    keepHeadersOnError: false,
  });
}
