import { isIP } from 'node:net';
import type { Middleware } from 'koa';
import { safeEqual } from '../../lib/crypto.ts';
import type { Metrics } from '../../lib/metrics.ts';

/** Serves /openapi.json and /docs. */
export function documents(document: object): Middleware {
  const text = JSON.stringify(document);
  return (koa, next) => {
    if (koa.method !== 'GET') return next();
    if (koa.path === '/openapi.json') {
      koa.type = 'application/json';
      koa.body = text;
      return undefined;
    }
    if (koa.path === '/docs') {
      koa.type = 'text/html';
      koa.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
      koa.body = docsPage(document);
      return undefined;
    }
    return next();
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

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  'x-scope': string;
  'x-org-permission': string;
  'x-idempotency': string;
  parameters: { name: string; in: string; required: boolean; description?: string; schema: object }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}

const escape = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);
const code = (value: object) => `<pre>${escape(JSON.stringify(value, null, 2))}</pre>`;

/** One readable page over the document: no script, no foreign asset, searchable with the browser's own search. */
function docsPage(document: object): string {
  const { info, paths } = document as {
    info: { title: string; version: string; description: string };
    paths: Record<string, Record<string, Operation>>;
  };
  const areas = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const area = operation.tags[0]!;
      areas.set(area, [...(areas.get(area) ?? []), section(path, method, operation)]);
    }
  }
  const nav = [...areas.keys()].map((area) => `<a href="#${area}">${area}</a>`).join(' ');
  const body = [...areas].map(([area, sections]) => `<h2 id="${area}">${area}</h2>${sections.join('')}`).join('');
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(info.title)}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1b2733}h2{margin-top:3rem;border-bottom:1px solid #d5dde5}
details{border:1px solid #d5dde5;border-radius:6px;margin:.5rem 0;padding:.5rem .8rem}summary{cursor:pointer}b.m{display:inline-block;width:4.5rem;font-family:monospace}
code,pre{font:13px/1.45 ui-monospace,monospace;background:#f3f6f9}pre{padding:.8rem;overflow:auto;max-height:26rem}nav a{margin-right:.8rem}small{color:#5b6b7b}</style>
<h1>${escape(info.title)} <small>${escape(info.version)}</small></h1><p>${escape(info.description)}</p>
<p>The machine-readable document is at <a href="/openapi.json">/openapi.json</a>.</p><nav>${nav}</nav>${body}</html>`;
}

function section(path: string, method: string, operation: Operation): string {
  const parameters =
    operation.parameters.length === 0
      ? ''
      : `<h4>Parameters</h4>${code(
          operation.parameters.map(({ name, in: where, required, schema, description }) => ({
            name,
            in: where,
            required,
            ...(description ? { description } : {}),
            schema,
          })),
        )}`;
  const request = operation.requestBody
    ? `<h4>Body</h4>${code(Object.values(operation.requestBody.content)[0]!.schema)}`
    : '';
  const responses = Object.entries(operation.responses)
    .map(([status, response]) => {
      const schema = Object.values(response.content ?? {})[0]?.schema;
      return `<p><b>${status}</b> ${escape(response.description)}</p>${Number(status) < 400 && schema ? code(schema) : ''}`;
    })
    .join('');
  return `<details id="${operation.operationId}"><summary><b class="m">${method.toUpperCase()}</b> <code>${escape(path)}</code> ${escape(operation.summary)}</summary>
${operation.description ? `<p>${escape(operation.description)}</p>` : ''}<p><small>scope <code>${operation['x-scope']}</code> · permission <code>${escape(operation['x-org-permission'])}</code> · Idempotency-Key ${operation['x-idempotency']}</small></p>
${parameters}${request}<h4>Answers</h4>${responses}</details>`;
}
