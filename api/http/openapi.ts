import { ERROR_CODES, type ErrorCode } from '../../lib/errors.ts';
import { permissionText } from './authorize.ts';
import { EXAMPLES, type OperationExample } from './examples.ts';
import { describe, INTRODUCTION, tagsFor } from './openapi-guide.ts';
import { parameters } from './openapi-parameters.ts';
import { toSchema } from './openapi-schema.ts';
import { webhooksSection } from './openapi-webhooks.ts';
import { oauthErrorSchema } from './oauth-errors.ts';
import { fullPath, idempotencyOf, type AnyRoute, type OtherAnswer } from './route.ts';

/** Codes any authenticated endpoint can answer, beside its own. */
const COMMON: ErrorCode[] = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'rate_limit_exceeded',
  'internal_error',
  'service_unavailable',
];

const errorSchema = {
  type: 'object',
  required: ['error', 'message', 'code', 'request_id'],
  properties: {
    error: { type: 'string', description: 'Human label of the status' },
    message: { type: 'string', description: 'What went wrong, in words' },
    code: { type: 'string', enum: Object.keys(ERROR_CODES), description: 'Machine code; branch on this' },
    request_id: { type: 'string', description: 'Also in the X-Request-Id header' },
    trace_id: { type: 'string', description: 'The trace of the request, where the installation records traces' },
    fix: { type: 'string', description: 'One-line remedy, when one is known' },
    problems: {
      type: 'array',
      description: 'Every fault of a bad request',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
    retry_after: { type: 'integer', description: 'Seconds to wait, on 429' },
  },
};

/** Headers of answers that a client can act on. */
const responseHeaders = {
  'Retry-After': {
    description: 'Seconds to wait before the request is sent again; on a 503 only where that is known',
    schema: { type: 'integer', minimum: 1 },
  },
  'Idempotent-Replayed': {
    description: '`true` on the stored answer of an earlier request with this Idempotency-Key: nothing was done again',
    schema: { type: 'string', const: 'true' },
  },
};
const RETRIED = [429, 503];

/** Names headers of the document's components in an answer. */
function withHeaders(...names: (keyof typeof responseHeaders)[]): { headers: Record<string, object> } {
  return { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) };
}

/** The OpenAPI 3.1 document of a set of routes: their declarations, the words of openapi-guide.ts, and recorded examples. */
export function openApiDocument(routes: readonly AnyRoute[], options: { version: string; serverUrl: string }): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const spec of routes) {
    const path = fullPath(spec).replace(/:([A-Za-z]+)/g, '{$1}');
    (paths[path] ??= {})[spec.method] = operation(spec);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Heron API',
      version: options.version,
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.serverUrl }],
    ...tagsFor(new Set([...routes.map((spec) => spec.area), 'webhooks'])),
    security: [{ bearer: [] }],
    paths,
    webhooks: webhooksSection(),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'API key (ssk_…), OAuth access token (ssat_…) or session token',
        },
      },
      headers: responseHeaders,
      schemas: { Error: errorSchema, OAuthError: oauthErrorSchema },
    },
  };
}

function operation(spec: AnyRoute): object {
  const idempotency = idempotencyOf(spec);
  const example = EXAMPLES.operations[spec.operationId] ?? {};
  return {
    operationId: spec.operationId,
    tags: [spec.area],
    summary: spec.summary,
    description: describe(spec),
    ...(spec.scope === 'public' ? { security: [] } : {}),
    'x-scope': Array.isArray(spec.scope) ? spec.scope.join('+') : spec.scope,
    'x-org-permission': permissionText(spec.permission),
    'x-idempotency': idempotency,
    parameters: parameters(spec, idempotency, example),
    ...(spec.body ? { requestBody: requestBody(spec, example) } : {}),
    responses: responses(spec, example),
  };
}

function requestBody(spec: AnyRoute, { request }: OperationExample): object {
  const type = {
    json: 'application/json',
    form: 'application/x-www-form-urlencoded',
    multipart: 'multipart/form-data',
    raw: 'application/json',
  }[spec.consumes ?? 'json'];
  return {
    required: !spec.body!.safeParse({}).success,
    content: {
      [type]: { schema: toSchema(spec.body!, 'input'), ...(request === undefined ? {} : { example: request }) },
    },
  };
}

function responses(spec: AnyRoute, { response }: OperationExample): object {
  const { status, body, description, contentType, schema, headers } = spec.success;
  const out: Record<string, object> = {
    [status]: {
      description: description ?? (status === 204 ? 'Done; no body' : 'Success'),
      ...(idempotencyOf(spec) === 'none' ? {} : withHeaders('Idempotent-Replayed')),
      ...(headers ? { headers } : {}),
      ...(body === 'stream'
        ? { content: { [contentType ?? 'application/octet-stream']: { schema: schema ?? { type: 'string' } } } }
        : {}),
      ...(body && body !== 'stream'
        ? {
            content: {
              'application/json': {
                schema: toSchema(body, 'output'),
                ...(response === undefined ? {} : { example: response }),
              },
            },
          }
        : {}),
    },
  };
  if (spec.awaiting)
    out[202] = {
      description: 'Nothing has happened yet: a person decides',
      content: { 'application/json': { schema: toSchema(spec.awaiting, 'output') } },
    };
  const codes = new Set<ErrorCode>([
    ...(spec.scope === 'public' ? (['bad_request', 'internal_error', 'service_unavailable'] as ErrorCode[]) : COMMON),
    ...(spec.errors ?? []),
  ]);
  if (/:/.test(spec.path)) codes.add('not_found');
  if (idempotencyOf(spec) !== 'none') codes.add('conflict');
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) byStatus.set(ERROR_CODES[code], [...(byStatus.get(ERROR_CODES[code]) ?? []), code]);
  for (const [errorStatus, list] of [...byStatus].sort((a, b) => a[0] - b[0])) {
    out[errorStatus] = {
      description: list.join(', '),
      ...(RETRIED.includes(errorStatus) ? withHeaders('Retry-After') : {}),
      content: {
        'application/json': spec.errorStyle
          ? { schema: { $ref: '#/components/schemas/OAuthError' } }
          : { schema: { $ref: '#/components/schemas/Error' }, ...refusals(list) },
      },
    };
  }
  for (const [otherStatus, answer] of Object.entries(spec.otherAnswers ?? {}))
    out[otherStatus] = withAnswer(out[otherStatus], answer);
  return out;
}

/** A recorded answer for each of these codes. */
function refusals(codes: readonly ErrorCode[]): { examples?: Record<string, { value: object }> } {
  const known = codes.flatMap((code) => {
    const value = EXAMPLES.errors[code];
    return value ? [[code, { value }] as const] : [];
  });
  return known.length > 0 ? { examples: Object.fromEntries(known) } : {};
}

interface DocumentedAnswer {
  description: string;
  content?: Record<string, { schema: object; examples?: object }>;
}

/** An answer of a status, beside what the document says of that status already. */
function withAnswer(known: object | undefined, { description, contentType, schema }: OtherAnswer): DocumentedAnswer {
  const before = known as DocumentedAnswer | undefined;
  const described = before ? `${before.description}; ${description}` : description;
  if (contentType === undefined) return { ...before, description: described };
  const own = schema ?? { type: 'string' };
  const same = before?.content?.[contentType];
  return {
    description: described,
    content: { ...before?.content, [contentType]: { ...same, schema: same ? { anyOf: [same.schema, own] } : own } },
  };
}
