import type { OpenAPI3 } from 'openapi-typescript';

interface Operation {
  responses: Record<string, { content?: object }>;
}

/** Parts of the API's OpenAPI document that become types. */
export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, object>;
  webhooks?: unknown;
}

/** Generates the types of every endpoint below /v1, by path and method. */
export async function typesOf(document: ApiDocument): Promise<string> {
  // Loads the generator only when types must be generated, because it loads a TypeScript compiler.
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const options = { defaultNonNullable: false };
  return withoutNeedless(astToString(await openapiTS(shortened(document) as unknown as OpenAPI3, options)));
}

/**
 * Returns the document without the parts that types do not need: webhooks, examples, headers, and repeated errors of
 * each endpoint.
 */
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

/**
 * Removes the operationId of an operation, so that its types are placed at its path and method. Of its texts, keeps
 * only the summary.
 */
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

/** Keywords of schemas that openapi-typescript would turn into useless comments. */
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
 * Parts of openapi-typescript's output that give no information. `query` is not among them, so that an unknown
 * parameter does not compile.
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
