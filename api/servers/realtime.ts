import Koa from 'koa';
import { createActorResolver, type ActorResolver } from '../../domain/identity/resolve-actor.ts';
import { watchPositions } from '../../domain/platform/realtime/watch.ts';
import { openRateLimiter } from '../../domain/identity/rate-limiter.ts';
import type { Deps } from '../../domain/platform/kernel/context.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { listenHttp, type Listening } from '../../lib/listen.ts';
import { withRequestSpan } from '../../lib/request-span.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { sendError } from '../http/errors.ts';
import { openWorkTimeoutMs } from '../../lib/shutdown.ts';
import { createGateway } from './realtime/gateway.ts';
import { GATEWAY_TIMES, type GatewayTimes } from './realtime/gateway-parts.ts';
import { showHealth } from '../http/health.ts';
import { metricsEndpoint } from '../http/metrics.ts';
import { message } from '../../messages/index.ts';

export interface RealtimeOptions extends Partial<GatewayTimes> {
  port?: number;
  actors?: ActorResolver;
}

/**
 * Starts the realtime gateway (4000 by default): the stream at /v1/realtime and at /, in addition to /health and
 * /metrics. When closed, it asks open sockets to reconnect (close code 1012) and waits until they have closed.
 */
export async function startRealtime(deps: Deps, metrics: Metrics, options: RealtimeOptions = {}): Promise<Listening> {
  const { port = deps.config.REALTIME_PORT, actors = createActorResolver(deps), ...times } = options;
  const limiter = openRateLimiter(deps);
  const gateway = createGateway({
    deps,
    limiter,
    metrics,
    actors,
    times: { heartbeatMs: deps.config.REALTIME_HEARTBEAT_MS, ...GATEWAY_TIMES, ...times },
  });
  const watch = await watchPositions(deps, (organizationIds) => gateway.wake(organizationIds));
  const close = async () => {
    await gateway.close();
    await watch.close();
    await limiter.close();
    await actors.flush().catch((error: unknown) => deps.log.warn({ err: error }, 'last use of API keys not written'));
  };
  try {
    const listening = await listenHttp(createRealtimeApp(deps, metrics).callback(), deps.config.LISTEN_HOST, port);
    gateway.attach(listening.server);
    return {
      ...listening,
      async close() {
        await Promise.all([listening.close(openWorkTimeoutMs(deps.config)), close()]);
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Creates the app that answers plain HTTP requests on the gateway's port. */
function createRealtimeApp(deps: Deps, metrics: Metrics): Koa {
  const app = new Koa();
  app.use((koa, next) =>
    withRequestSpan(deps.config, { method: koa.method, traceparent: koa.get('traceparent') }, () => next()),
  );
  app.use((koa, next) => {
    if (koa.path !== '/health') return next();
    return showHealth(koa);
  });
  app.use(metricsEndpoint(metrics, deps.config));
  app.use((koa) => {
    const stream = koa.path === '/' || koa.path === '/v1/realtime';
    const error = stream
      ? new AppError('bad_request', message('realtime.websocket_only'), {
          fix: message('realtime.websocket_only.fix'),
        })
      : new AppError('not_found', message('request.no_endpoint'));
    sendError(koa, error, newId());
  });
  app.silent = true;
  return app;
}
