import type { OpenAPI3 } from 'openapi-typescript';

interface Operation {
  responses: Record<string, { content?: object }>;
}

/** The API's OpenAPI document, as far as types are made of it. */
export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, object>;
  webhooks?: unknown;
}

/** The types of every endpoint below /v1, by path and method. */
export async function typesOf(document: ApiDocument): Promise<string> {
  // It loads a TypeScript compiler, which a file that is fresh does not need.
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const options = { defaultNonNullable: false };
  return withoutNeedless(astToString(await openapiTS(shortened(document) as unknown as OpenAPI3, options)));
}

/** The document without what types do not need: webhooks, examples, headers, and the same error at each status of each endpoint. */
function shortened({ webhooks: _, ...document }: ApiDocument): ApiDocument {
  const paths = Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .map(([path, methods]) => [
      path,
      Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, shortenedOperation(operation)])),
    ]);
  const { parameters, schemas } = document.components;
  const responses = {
    Error: {
      description: 'Error',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    },
  };
  return withoutExamples({
    ...document,
    paths: Object.fromEntries(paths),
    components: { parameters, schemas, responses },
  } as ApiDocument);
}

/** Without an operationId the types of an operation stand where its path and method are; of its words the summary is enough. */
function shortenedOperation({ responses, ...operation }: Operation): object {
  const { operationId: _, description: __, ...rest } = operation as Operation & Record<string, unknown>;
  const successes = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([status, { content }]) => [status, { description: '', ...(content ? { content } : {}) }]);
  return {
    ...rest,
    responses: { ...Object.fromEntries(successes), default: { $ref: '#/components/responses/Error' } },
  };
}

/** Keywords that make comments which say less than the type does, or nothing. */
const WORDLESS = ['default', 'format'];

function withoutExamples<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutExamples) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([key, each]) => !(key === 'example' || key === 'examples' || (WORDLESS.includes(key) && typeof each !== 'object')),
  );
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutExamples(each)])) as T;
}

/**
 * Lines of openapi-typescript that say what an endpoint does not have, or again what a type says. `query` stays, so that
 * an unknown one does not compile.
 */
const NEEDLESS = [
  /^ +/gm,
  /^parameters: \{\n(?:(?:query|header|path|cookie)\?: never;\n)+\};\n(?=\/\*\*|get|put|post|delete|patch)/gm,
  /^(?:header|path|cookie|requestBody|get|put|post|delete|options|head|patch|trace)\?: never;\n/gm,
  /^headers: \{\n\[name: string\]: unknown;\n\};\n/gm,
  /^\/\*\* @(?:description|enum \{\w+\}|constant) \*\/\n/gm,
  /^\* @(?:enum \{\w+\}|constant)\n/gm,
  /^\/\*\* .*\*\/\n(?=.*: components\["parameters"\])/gm,
];

function withoutNeedless(types: string): string {
  return NEEDLESS.reduce((text, lines) => text.replace(lines, ''), types)
    .replace(/^\/\*\*\n\* (.*)\n\*\/\n/gm, '/** $1 */\n')
    .replaceAll('/** @description ', '/** ')
    .replaceAll('components["schemas"][', 'Schemas[')
    .replaceAll('components["parameters"][', 'Parameters[')
    .replaceAll('components["responses"]["Error"];', 'Refusal;')
    .concat(ALIASES);
}

const ALIASES = `export type Schemas = components["schemas"];
type Parameters = components["parameters"];
type Refusal = components["responses"]["Error"];
`;
