import { isIP } from 'node:net';
import type { Middleware } from 'koa';
import type { Config } from '../../lib/config/index.ts';
import { safeEqual } from '../../lib/crypto.ts';
import type { Metrics } from '../../lib/metrics.ts';

/** What a proxy adds to a request. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/**
 * Serves /metrics: to a bearer of METRICS_TOKEN; when none is set, to loopback. Behind a proxy on the same machine everybody
 * comes from there, so without a token nothing is served when APP_ENV is prod, proxies are named, or the request went
 * through one.
 */
export function metricsEndpoint(
  metrics: Metrics,
  { METRICS_TOKEN: token, APP_ENV, TRUSTED_PROXIES }: Pick<Config, 'METRICS_TOKEN' | 'APP_ENV' | 'TRUSTED_PROXIES'>,
): Middleware {
  const open = APP_ENV !== 'prod' && TRUSTED_PROXIES.length === 0;
  return async (koa, next) => {
    if (koa.method !== 'GET' || koa.path !== '/metrics') return next();
    const local =
      isIP(koa.req.socket.remoteAddress ?? '') !== 0 &&
      /^(127\.|::1$|::ffff:127\.)/.test(koa.req.socket.remoteAddress ?? '');
    const allowed = token
      ? safeEqual(koa.get('authorization'), `Bearer ${token}`)
      : open && local && FORWARDED.every((name) => koa.get(name) === '');
    if (!allowed) {
      koa.status = 404;
      return undefined;
    }
    koa.type = metrics.registry.contentType;
    koa.body = await metrics.registry.metrics();
    return undefined;
  };
}
