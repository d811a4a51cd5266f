import { createActorResolver } from '../../domain/identity/resolve-actor.ts';
import { createUsageLog } from '../../domain/identity/api-keys/usage-log.ts';
import { openRateLimiter } from '../../domain/identity/rate-limiter.ts';
import type { Deps } from '../../domain/platform/kernel/context.ts';
import { listenHttp, type Listening } from '../../lib/listen.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { openWorkTimeoutMs } from '../../lib/shutdown.ts';
import { createApp, type AppOptions } from '../http/app.ts';
import { openApiDocument } from '../http/openapi.ts';
import { mcpGate } from '../agents/mcp/methods.ts';
import { routes } from '../routes.ts';
import { dashboardFallback, dashboardFiles } from '../pages/dashboard.ts';
import { metricsEndpoint } from '../http/metrics.ts';
import { documents } from '../operations/system/documents.ts';
import { VERSION } from '../../lib/version.ts';

/** Areas that are not in the document: pages are for people, and MCP clients get their descriptions by MCP. */
const UNDOCUMENTED: ReadonlySet<string> = new Set(['mcp', 'pages']);

/** Builds the API's OpenAPI document without a running server. */
export function apiDocument(serverUrl: string): object {
  const documented = routes.filter(({ area }) => !UNDOCUMENTED.has(area));
  return openApiDocument(documented, { version: VERSION, serverUrl });
}

interface RunningApi extends Listening {
  /** Builds the OpenAPI document in advance, so that no request waits for it. Takes about 300 ms of processor time. */
  prepare(): void;
}

/** Starts the REST API (8080 by default). */
export async function startApi(
  deps: Deps,
  metrics: Metrics,
  options: Partial<Pick<AppOptions, 'strictResponses' | 'limiter' | 'actors' | 'usage'>> & { port?: number } = {},
): Promise<RunningApi> {
  const {
    port = deps.config.API_PORT,
    actors = createActorResolver(deps),
    limiter = openRateLimiter(deps),
    ...rest
  } = options;
  const usage = options.usage ?? createUsageLog(deps, { onDropped: (count) => metrics.keyUsageDropped.inc(count) });
  let text: string | undefined;
  const document = (): string => (text ??= JSON.stringify(apiDocument(deps.config.API_PUBLIC_URL)));
  const app = createApp({
    deps,
    routes,
    metrics,
    middleware: [documents(document), metricsEndpoint(metrics, deps.config), mcpGate(deps.config), dashboardFiles()],
    fallback: dashboardFallback(deps.config),
    ...rest,
    actors,
    limiter,
    usage,
  });
  const listening = await listenHttp(app.callback(), deps.config.LISTEN_HOST, port);
  return {
    ...listening,
    prepare: () => void document(),
    async close() {
      await listening.close(openWorkTimeoutMs(deps.config));
      await limiter.close();
      await actors.flush().catch((error: unknown) => deps.log.warn({ err: error }, 'last use of API keys not written'));
      await usage.flush().catch((error: unknown) => deps.log.warn({ err: error }, 'usage of API keys not written'));
    },
  };
}
