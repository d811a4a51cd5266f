import { ERROR_CODES, statusLabel, type ErrorCode } from '../../lib/errors.ts';
import { EXAMPLES } from './examples.ts';
import { oauthErrorSchema } from './oauth-errors.ts';

/** Names of the error schemas. */
export type ErrorForm = 'Error' | 'OAuthError';

/** Reference to a component of the document. */
interface Reference {
  $ref: string;
}

/** Headers of answers that a client can use. */
const HEADERS = {
  'X-Request-Id': {
    description: 'Id of the request; include it in support requests',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before repeating the request; on a 503 only if known',
    schema: { type: 'integer', minimum: 1 },
  },
  'RateLimit-Policy': {
    description: 'Limits that the request counts against: name, number of requests (`q`), window in seconds (`w`)',
    schema: { type: 'string', examples: ['"requests";q=60;w=60, "writes";q=600;w=60'] },
  },
  RateLimit: {
    description: 'What is left of each limit: name, requests (`r`), seconds until a request is free again (`t`)',
    schema: { type: 'string', examples: ['"requests";r=0;t=12, "writes";r=594;t=48'] },
  },
  'Idempotent-Replayed': {
    description:
      '`true` if this is the stored answer of an earlier request with this Idempotency-Key: nothing was done again',
    schema: { type: 'string', const: 'true' },
  },
} as const;

/** JSON Schema of the values of a message. */
const VALUES = {
  type: 'object',
  description: 'The values in `message`, by name',
  additionalProperties: true,
} as const;

const SCHEMAS = {
  Error: {
    type: 'object',
    description: 'Envelope of every error',
    required: ['error', 'message', 'message_code', 'message_values', 'code', 'request_id'],
    properties: {
      error: { type: 'string', description: 'Text of the HTTP status' },
      message: { type: 'string', description: 'Error description, in the language of the request' },
      message_code: { type: 'string', description: 'Code of the sentence in `message`; stable' },
      message_values: VALUES,
      code: { type: 'string', enum: Object.keys(ERROR_CODES), description: 'Error code for programs' },
      request_id: { type: 'string', description: 'Also in the X-Request-Id header' },
      trace_id: { type: 'string', description: 'Trace id of the request, if the installation records traces' },
      fix: { type: 'string', description: 'How to fix it, in one line, in the language of the request; if known' },
      problems: {
        type: 'array',
        description: 'All problems of a bad request',
        items: { $ref: '#/components/schemas/Problem' },
      },
      retry_after: { type: 'integer', description: 'Seconds to wait, on 429' },
    },
  },
  Problem: {
    type: 'object',
    description: 'One problem of a bad request',
    required: ['path', 'message', 'code', 'values'],
    properties: {
      path: { type: 'string', description: 'Dotted path of the field, from `body`, `query` or `params`' },
      message: { type: 'string', description: 'In the language of the request' },
      code: { type: 'string', description: 'Names the sentence in `message`; stable' },
      values: VALUES,
    },
  },
  OAuthError: oauthErrorSchema,
} as const;

/** Headers of refusals that are temporary, by status. */
const PASSING: Readonly<Record<number, readonly (keyof typeof HEADERS)[]>> = {
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
};

/** Returns references to answer headers, in addition to X-Request-Id, which every answer has. */
export function headersOf(...names: (keyof typeof HEADERS)[]): Record<string, Reference> {
  const all = ['X-Request-Id', ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Collects the parameters, headers and error answers that operations of a document share. */
export class SharedComponents {
  readonly #parameters = new Map<string, object>();
  readonly #responses = new Map<string, object>();

  /** Returns a reference to a shared parameter, or the parameter itself if another one has its name. */
  parameter(name: string, parameter: object): object {
    const known = this.#parameters.get(name) ?? parameter;
    this.#parameters.set(name, known);
    return JSON.stringify(known) === JSON.stringify(parameter)
      ? { $ref: `#/components/parameters/${name}` }
      : parameter;
  }

  /** Returns a reference to the error answer of a status, in the envelope or in OAuth's format. */
  refusal(status: number, form: ErrorForm): Reference {
    const name = `${form === 'OAuthError' ? 'OAuth' : ''}${statusLabel(status).replaceAll(' ', '')}`;
    if (!this.#responses.has(name)) this.#responses.set(name, refusal(status, form));
    return { $ref: `#/components/responses/${name}` };
  }

  /** Returns the `components` section of the document, with the given schemas. */
  sections(schemas: Record<string, object>): Record<string, object> {
    return {
      headers: HEADERS,
      parameters: sorted(this.#parameters),
      responses: sorted(this.#responses),
      schemas: { ...SCHEMAS, ...schemas },
    };
  }
}

/** Builds the error answer of a status, with a recorded example for each of its codes. */
export function refusal(
  status: number,
  form: ErrorForm,
): { description: string; headers: object; content: Record<string, { schema: object; examples?: object }> } {
  const codes = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => ERROR_CODES[code] === status);
  const examples = codes.flatMap((code) => {
    const value = EXAMPLES.errors[code];
    return value ? [[code, { value }] as const] : [];
  });
  return {
    description:
      form === 'OAuthError'
        ? statusLabel(status)
        : `${statusLabel(status)}. Codes: ${codes.map((code) => `\`${code}\``).join(', ')}`,
    headers: headersOf(...(PASSING[status] ?? [])),
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${form}` },
        ...(form === 'Error' && examples.length > 0 ? { examples: Object.fromEntries(examples) } : {}),
      },
    },
  };
}

const sorted = (parts: ReadonlyMap<string, object>): Record<string, object> =>
  Object.fromEntries([...parts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
