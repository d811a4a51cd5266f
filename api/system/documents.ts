import { isIP } from 'node:net';
import type { Middleware } from 'koa';
import { safeEqual } from '../../lib/crypto.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { serveReference } from './reference/page.ts';

/** Serves /openapi.json, and the API reference that is drawn from it at /docs. */
export function documents(document: object): Middleware {
  const text = JSON.stringify(document);
  return (koa, next) => {
    if (koa.method !== 'GET') return next();
    if (koa.path === '/openapi.json') {
      koa.type = 'application/json';
      koa.body = text;
      return undefined;
    }
    return serveReference(koa) ? undefined : next();
  };
}

/** Serves /metrics: to a bearer of METRICS_TOKEN, or to loopback when none is set. */
export function metricsEndpoint(metrics: Metrics, token: string | undefined): Middleware {
  return async (koa, next) => {
    if (koa.method !== 'GET' || koa.path !== '/metrics') return next();
    const local =
      isIP(koa.req.socket.remoteAddress ?? '') !== 0 &&
      /^(127\.|::1$|::ffff:127\.)/.test(koa.req.socket.remoteAddress ?? '');
    const allowed = token
      ? safeEqual(koa.get('authorization'), `Bearer ${token}`)
      : local && !koa.get('x-forwarded-for');
    if (!allowed) {
      koa.status = 404;
      return undefined;
    }
    koa.type = metrics.registry.contentType;
    koa.body = await metrics.registry.metrics();
    return undefined;
  };
}
