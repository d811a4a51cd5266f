import { ERROR_CODES, type ErrorCode } from '../../lib/errors.ts';
import { permissionText } from './authorize.ts';
import { EXAMPLES, type OperationExample } from './examples.ts';
import { describe, INTRODUCTION, tagsFor } from './openapi-guide.ts';
import { parameters } from './openapi-parameters.ts';
import { documentSchemas, type DocumentSchemas } from './openapi-schema.ts';
import { headersOf, refusal, SharedComponents, type ErrorForm } from './openapi-shared.ts';
import { webhooksSection } from './openapi-webhooks.ts';
import { fullPath, idempotencyOf, type AnyRoute, type OtherAnswer } from './route.ts';

/** Error codes that any authenticated endpoint can return, in addition to its own. */
const COMMON: ErrorCode[] = [
  'bad_request',
  'unauthorized',
  'forbidden',
  'rate_limit_exceeded',
  'internal_error',
  'service_unavailable',
];
const COMMON_PUBLIC: ErrorCode[] = ['bad_request', 'internal_error', 'service_unavailable'];

/** Parts of a document that its operations share. */
interface Shared {
  schemas: DocumentSchemas;
  components: SharedComponents;
}

/**
 * Builds the OpenAPI 3.1 document from the routes' declarations, the texts of openapi-guide.ts and recorded examples.
 */
export function openApiDocument(routes: readonly AnyRoute[], options: { version: string; serverUrl: string }): object {
  const schemas = documentSchemas({
    input: routes.flatMap(({ query, body }) => [query, body]).filter(isSchema),
    output: routes.flatMap(({ success, awaiting }) => [success.body, awaiting]).filter(isSchema),
  });
  const components = new SharedComponents();
  const paths: Record<string, Record<string, object>> = {};
  for (const spec of routes) {
    const path = fullPath(spec).replace(/:([A-Za-z]+)/g, '{$1}');
    (paths[path] ??= {})[spec.method] = operation(spec, { schemas, components });
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Heron API',
      version: options.version,
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      {
        url: '{installation}',
        description: 'An installation of Heron',
        variables: {
          installation: { default: options.serverUrl, description: 'Its API_PUBLIC_URL, without a trailing slash' },
        },
      },
    ],
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
      ...components.sections(schemas.components),
    },
  };
}

type Answer = AnyRoute['success']['body'] | AnyRoute['body'];

function isSchema(schema: Answer): schema is NonNullable<AnyRoute['body']> {
  return schema !== undefined && schema !== 'stream';
}

function operation(spec: AnyRoute, shared: Shared): object {
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
    parameters: parameters(spec, shared, example),
    ...(spec.body ? { requestBody: requestBody(spec, shared, example) } : {}),
    responses: { ...successes(spec, shared, example), ...refusals(spec, shared) },
  };
}

function requestBody(spec: AnyRoute, { schemas }: Shared, { request }: OperationExample): object {
  const type = {
    json: 'application/json',
    form: 'application/x-www-form-urlencoded',
    multipart: 'multipart/form-data',
    raw: 'application/json',
  }[spec.consumes ?? 'json'];
  return {
    required: !spec.body!.safeParse({}).success,
    content: {
      [type]: { schema: schemas.of(spec.body!, 'input'), ...(request === undefined ? {} : { example: request }) },
    },
  };
}

function successes(spec: AnyRoute, { schemas }: Shared, { response }: OperationExample): Record<string, object> {
  const { status, body, description, contentType, schema, headers } = spec.success;
  const json = (answer: NonNullable<AnyRoute['body']>, example?: unknown): object => ({
    content: {
      'application/json': { schema: schemas.of(answer, 'output'), ...(example === undefined ? {} : { example }) },
    },
  });
  return {
    [status]: {
      description: description ?? (status === 204 ? 'Done; no body' : 'Success'),
      headers: { ...headersOf(...(idempotencyOf(spec) === 'none' ? [] : REPLAYED)), ...headers },
      ...(body === 'stream'
        ? { content: { [contentType ?? 'application/octet-stream']: { schema: schema ?? { type: 'string' } } } }
        : {}),
      ...(isSchema(body) ? json(body, response) : {}),
    },
    ...(spec.awaiting
      ? {
          202: {
            description: 'Nothing was done yet: a person decides',
            headers: headersOf(),
            ...json(spec.awaiting),
          },
        }
      : {}),
  };
}
const REPLAYED = ['Idempotent-Replayed'] as const;

function refusals(spec: AnyRoute, { components }: Shared): Record<string, object> {
  const codes: ErrorCode[] = [...(spec.scope === 'public' ? COMMON_PUBLIC : COMMON), ...(spec.errors ?? [])];
  if (/:/.test(spec.path)) codes.push('not_found');
  if (idempotencyOf(spec) !== 'none') codes.push('conflict');
  const statuses = new Set(codes.map((code) => ERROR_CODES[code]));
  const form: ErrorForm = spec.errorStyle ? 'OAuthError' : 'Error';
  const out: Record<string, object> = {};
  for (const status of [...statuses].toSorted((a, b) => a - b)) out[status] = components.refusal(status, form);
  for (const [status, answer] of Object.entries(spec.otherAnswers ?? {}))
    out[status] = withAnswer(out[status] && refusal(Number(status), form), answer);
  return out;
}

interface DocumentedAnswer {
  description: string;
  content?: Record<string, { schema: object; examples?: object }>;
}

/** Adds an answer to a status in the document, which may already have other answers. */
function withAnswer(
  before: DocumentedAnswer | undefined,
  { description, contentType, schema }: OtherAnswer,
): DocumentedAnswer {
  const described = before ? `${before.description}; ${description}` : description;
  if (contentType === undefined) return { ...before, description: described };
  const own = schema ?? { type: 'string' };
  const same = before?.content?.[contentType];
  return {
    description: described,
    content: { ...before?.content, [contentType]: { ...same, schema: same ? { anyOf: [same.schema, own] } : own } },
  };
}
