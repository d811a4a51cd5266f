import { rm } from 'node:fs/promises';
import Koa, { type Context, type Middleware, type ParameterizedContext } from 'koa';
import { HttpMethodEnum, koaBody } from 'koa-body';
import proxyAddr from 'proxy-addr';
import { MAX_USER_AGENT } from '../../domain/platform/kernel/actor.ts';
import type { Deps } from '../../domain/platform/kernel/context.ts';
import { createActorResolver, type ActorResolver } from '../../domain/identity/resolve-actor.ts';
import type { UsageLog } from '../../domain/identity/api-keys/usage-log.ts';
import type { Config } from '../../lib/config/index.ts';
import { discardBody } from '../../lib/discard-body.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Metrics } from '../../lib/metrics.ts';
import { MultipartError, readMultipart } from '../../lib/multipart.ts';
import type { RateLimiter } from '../../lib/rate-limit.ts';
import { withRequestSpan } from '../../lib/request-span.ts';
import { addSpanAttributes } from '../../lib/trace.ts';
import { strictTransport } from '../../lib/strict-transport.ts';
import { cors } from './cors.ts';
import { asAppError, errorCodeOf, sendError } from './errors.ts';
import { admission, guard } from './guard.ts';
import { quotaReport } from './rate-limit.ts';
import { fullPath, type AnyRoute } from './route.ts';
import { Routers } from './routers.ts';
import { RequestsUnderWay } from './under-way.ts';
import { message, type Message } from '../../messages/index.ts';

const DEFAULT_BODY_LIMIT = 1024 * 1024;
const REQUEST_ID = /^[A-Za-z0-9._-]{8,128}$/;

export interface AppOptions {
  deps: Deps;
  routes: readonly AnyRoute[];
  metrics: Metrics;
  strictResponses?: boolean;
  limiter: RateLimiter;
  actors?: ActorResolver;
  /** Records every request made with an API key. */
  usage: UsageLog;
  /** Middleware that runs before the routes, such as the API document and the metrics. */
  middleware?: readonly Middleware[];
  /** Middleware for requests that no route matches. */
  fallback?: Middleware;
}

/** Creates the Koa application of a set of routes. */
export function createApp(options: AppOptions): Koa {
  const { deps, routes, metrics } = options;
  const app = new Koa();
  const parts = {
    deps,
    actors: options.actors ?? createActorResolver(deps),
    limiter: options.limiter,
    underWay: new RequestsUnderWay(),
    strictResponses: options.strictResponses ?? false,
  };
  const routers = new Routers();
  // A fixed path segment takes precedence over a parameter, regardless of the order of the declarations.
  for (const spec of [...routes].sort(byParameterPosition)) {
    const path = fullPath(spec);
    routers
      .of(path)
      [spec.method](
        spec.operationId,
        path,
        named(spec),
        admission(spec, parts),
        parseBody(spec, deps.config),
        guard(spec, parts),
      );
  }
  app.use(envelope(deps, metrics, options.usage));
  app.use(cors(deps.config, routes));
  for (const extra of options.middleware ?? []) app.use(extra);
  app.use(routers.dispatch);
  if (options.fallback) app.use(options.fallback);
  app.use((koa) => {
    const methods = [...new Set(routers.methodsOf(koa.path))].filter((method) => method !== 'HEAD').toSorted();
    throw new AppError('not_found', message('request.no_endpoint'), {
      fix: methods.length > 0 ? message('request.methods.fix', { methods }) : message('request.no_endpoint.fix'),
    });
  });
  // Prevents Koa's own handler from printing to stderr what `envelope` has already logged.
  app.silent = true;
  return app;
}

function byParameterPosition(a: AnyRoute, b: AnyRoute): number {
  const shape = (spec: AnyRoute) =>
    fullPath(spec)
      .split('/')
      .map((part) => (part.startsWith(':') ? '1' : '0'))
      .join('');
  return shape(a).localeCompare(shape(b));
}

function named(spec: AnyRoute): Middleware {
  return (koa, next) => {
    koa.state.operationId = spec.operationId;
    koa.state.endpoint = fullPath(spec);
    koa.state.errorStyle = spec.errorStyle;
    if (spec.cacheControl) koa.set('Cache-Control', spec.cacheControl);
    return next();
  };
}

function parseBody(spec: AnyRoute, config: Config): Middleware {
  if (spec.method === 'get') return (_koa, next) => next();
  const { consumes = 'json' } = spec;
  if (consumes === 'raw') return unreadBody;
  const limit = (typeof spec.bodyLimit === 'function' ? spec.bodyLimit(config) : spec.bodyLimit) ?? DEFAULT_BODY_LIMIT;
  const read = consumes === 'multipart' ? parseMultipart(limit, spec.files?.length ?? 0) : parseFields(consumes, limit);
  // Browsers send forms, and so do mail programs for one-click unsubscribe. Both may use either content type.
  if (!spec.body || consumes === 'form') return read;
  return (koa, next) => {
    refuseOtherType(koa, consumes);
    return read(koa as Context, next);
  };
}

/** Content types that a route accepts. */
const READ_TYPES = {
  json: ['application/json', '+json'],
  multipart: ['multipart/form-data'],
} as const;

/**
 * Refuses a body whose content type the route does not read. It would otherwise be ignored silently: `curl -d` sends a
 * form by default.
 * @throws AppError bad_request
 */
function refuseOtherType(koa: ParameterizedContext, consumes: keyof typeof READ_TYPES): void {
  const hasBody = Number(koa.get('content-length')) > 0 || koa.get('transfer-encoding') !== '';
  const [type, ...others] = READ_TYPES[consumes];
  if (!hasBody || koa.is(type, ...others)) return;
  discardBody(koa.req);
  throw new AppError('bad_request', message('request.body_type', { type }), {
    problems: [{ path: 'headers.Content-Type', message: message('field.content_type', { type }) }],
    fix: consumes === 'multipart' ? message('request.body_file.fix') : message('request.body_type.fix', { type }),
  });
}

function parseFields(consumes: 'json' | 'form', limit: number): Middleware {
  return koaBody({
    json: consumes === 'json',
    jsonTypes: [...READ_TYPES.json],
    urlencoded: consumes === 'form',
    text: false,
    jsonLimit: limit,
    formLimit: limit,
    jsonStrict: true,
    parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE],
    onError: (error, koa) => {
      discardBody(koa.req);
      throw unreadable((error as { status?: number }).status ?? 400, error);
    },
  });
}

function unreadable(status: number, cause: unknown): AppError {
  const said =
    status === 413
      ? message('request.body_too_large')
      : /prototype property/.test((cause as Error).message)
        ? message('request.body_proto')
        : cause instanceof SyntaxError
          ? jsonFault(cause)
          : message('request.body_invalid');
  return new AppError(errorCodeOf(status), said, { cause });
}

/**
 * Builds the message for invalid JSON. It names the position if the parser does, but never contains the text itself.
 */
function jsonFault({ message: said }: SyntaxError): Message {
  if (/only supports object and array/.test(said)) return message('request.body_no_object');
  const position = /position (\d+)/.exec(said)?.[1];
  return position === undefined
    ? message('request.body_no_json')
    : message('request.body_no_json_at', { position: Number(position) + 1 });
}

/** Leaves the body unread. The route reads the request's stream itself and limits its size. */
const unreadBody: Middleware = (koa, next) => {
  (koa.request as { body?: unknown }).body = koa.req;
  return next();
};

/** Allowance (bytes) for the boundaries and headers of multipart parts, in addition to the files. */
const MULTIPART_FRAME_BYTES = 64 * 1024;

/** Parses a multipart body. Deletes uploaded files when their request ends, in success or error. */
function parseMultipart(fileBytes: number, files: number): Middleware {
  return async (koa, next) => {
    if (!koa.is('multipart/form-data')) return next();
    const parts = await readMultipart(koa.req, {
      bodyBytes: fileBytes + DEFAULT_BODY_LIMIT + MULTIPART_FRAME_BYTES,
      fieldBytes: DEFAULT_BODY_LIMIT,
      files,
    }).catch((error: unknown) => {
      throw unreadable(error instanceof MultipartError && error.kind === 'too_large' ? 413 : 400, error);
    });
    const uploaded = Object.values(parts.files);
    try {
      if (uploaded.some(({ sizeBytes }) => sizeBytes > fileBytes)) throw unreadable(413, undefined);
      (koa.request as { body?: unknown }).body = parts.fields;
      koa.state.files = parts.files;
      return await next();
    } finally {
      await Promise.all(uploaded.map(({ path }) => rm(path, { force: true })));
    }
  };
}

/**
 * Assigns the request id, measures and logs each request, records API key usage, and turns every error thrown below
 * into the error envelope.
 */
function envelope(deps: Deps, metrics: Metrics, usage: UsageLog): Middleware {
  const trust = deps.config.TRUSTED_PROXIES.length > 0 ? proxyAddr.compile(deps.config.TRUSTED_PROXIES) : () => false;
  const hsts = strictTransport(deps.config.API_PUBLIC_URL);
  const answer: Middleware = async (koa, next) => {
    const started = performance.now();
    const given = koa.get('x-request-id');
    const requestId = REQUEST_ID.test(given) ? given : newId();
    koa.state.requestId = requestId;
    koa.state.log = deps.log.child({ requestId });
    koa.state.reportQuota = quotaReport(koa as Context);
    koa.request.ip = proxyAddr(koa.req, trust);
    koa.set('X-Request-Id', requestId);
    koa.set('X-Content-Type-Options', 'nosniff');
    // Answers belong to one caller and may contain secrets, so caches must not store them unless the route allows it.
    koa.set('Cache-Control', 'no-store');
    if (hsts) koa.set('Strict-Transport-Security', hsts);
    try {
      await next();
    } catch (thrown) {
      const error = asAppError(thrown);
      if (error.status >= 500) koa.state.log.error({ err: error, cause: error.cause }, 'request failed');
      sendError(koa as Context, error, requestId, koa.state.errorStyle);
    }
    const seconds = (performance.now() - started) / 1000;
    const operation = koa.state.operationId ?? 'none';
    addSpanAttributes({
      'heron.operation': operation,
      'heron.request_id': requestId,
      'http.response.status_code': koa.status,
    });
    metrics.httpRequests.observe({ operation, status: String(koa.status) }, seconds);
    koa.state.log.info(
      {
        operation,
        method: koa.method,
        status: koa.status,
        ms: Math.round(seconds * 1000),
        organizationId: koa.state.actor?.organizationId ?? undefined,
      },
      'request',
    );
    if (koa.state.apiKeyId) {
      usage.record({
        apiKeyId: koa.state.apiKeyId,
        endpoint: koa.state.endpoint,
        method: koa.method,
        ipAddress: koa.ip,
        userAgent: koa.get('user-agent').slice(0, MAX_USER_AGENT),
        status: koa.status,
        durationMs: seconds * 1000,
        requestId: koa.state.requestId,
      });
    }
  };
  // The span has no path, because some paths contain addresses and tokens.
  return (koa, next) =>
    withRequestSpan(deps.config, { method: koa.method, traceparent: koa.get('traceparent') }, () =>
      Promise.resolve(answer(koa, next)),
    );
}
