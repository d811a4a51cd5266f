import { contactRoutes } from '../../api/audience/contacts/routes.ts';
import { createApp } from '../../api/http/app.ts';
import { createUsageLog } from '../../domain/identity/api-keys/usage-log.ts';
import { systemActor } from '../../domain/platform/kernel/actor.ts';
import type { Deps } from '../../domain/platform/kernel/context.ts';
import { listenHttp, type Listening } from '../../lib/listen.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { createRateLimiter } from '../../lib/rate-limit.ts';

/**
 * Starts the API with contact reads that need no authentication and act as one organization: no key, scope, rate limit
 * or usage record. It is the reference for measuring the cost of these checks.
 */
export function startOpenApi(deps: Deps, organizationId: string): Promise<Listening> {
  const actor = systemActor(organizationId);
  const routes = contactRoutes
    .filter((spec) => spec.method === 'get')
    .map((spec) => ({
      ...spec,
      scope: 'public' as const,
      permission: null,
      handler: (ctx: Parameters<typeof spec.handler>[0], input: Parameters<typeof spec.handler>[1]) =>
        spec.handler({ ...ctx, actor }, input),
    }));
  const limiter = createRateLimiter(deps.clock);
  const app = createApp({ deps, routes, metrics: createMetrics(), limiter, usage: createUsageLog(deps) });
  return listenHttp(app.callback(), '127.0.0.1', 0);
}
