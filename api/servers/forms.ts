import Koa from 'koa';
import type { Deps } from '../../domain/platform/kernel/context.ts';
import type { Config } from '../../lib/config/index.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { listenHttp, type Listening } from '../../lib/listen.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { withRequestSpan } from '../../lib/request-span.ts';
import { sendError } from '../http/errors.ts';
import { showHealth } from '../http/health.ts';
import { metricsEndpoint } from '../http/metrics.ts';
import { message } from '../../messages/index.ts';

/**
 * Starts the forms service (8090 by default). The API cannot create forms yet, so this server only serves /health and
 * /metrics, and answers 404 to all other requests. Load balancers and firewalls can already be set up for it.
 */
export async function startForms(
  { config }: Pick<Deps, 'config'>,
  metrics: Metrics,
  options: { port?: number } = {},
): Promise<Listening> {
  const { port = config.FORMS_PORT } = options;
  return listenHttp(createFormsApp(config, metrics).callback(), config.LISTEN_HOST, port);
}

function createFormsApp(config: Config, metrics: Metrics): Koa {
  const app = new Koa();
  app.use((koa, next) =>
    withRequestSpan(config, { method: koa.method, traceparent: koa.get('traceparent') }, () => next()),
  );
  app.use((koa, next) => {
    if (koa.path !== '/health') return next();
    return showHealth(koa);
  });
  app.use(metricsEndpoint(metrics, config));
  app.use((koa) => sendError(koa, new AppError('not_found', message('form.not_found')), newId()));
  app.silent = true;
  return app;
}
