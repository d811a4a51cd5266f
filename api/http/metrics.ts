import { isIP } from 'node:net';
import type { Middleware } from 'koa';
import type { Config } from '../../lib/config/index.ts';
import { safeEqual } from '../../lib/crypto.ts';
import type { Metrics } from '../../lib/metrics.ts';

/** Request headers that proxies add. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

/**
 * Serves /metrics to clients with METRICS_TOKEN, or to loopback clients if no token is set. Behind a proxy on the same
 * machine every client looks like loopback. So without a token, /metrics is not served in APP_ENV prod, with configured
 * proxies, or through a proxy.
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
