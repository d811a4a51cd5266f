import type { z } from 'zod';
import { AppError, type Problem } from '../../../lib/errors.ts';
import { toSchema } from '../../http/openapi-schema.ts';
import { MAX_KEY_LENGTH } from '../../http/idempotency.ts';
import { idempotencyOf, isWrite, type AnyRoute, type RouteRequest } from '../../http/route.ts';
import { message, type Message } from '../../../messages/index.ts';

/** Keywords of a JSON Schema that this file reads. */
interface JsonSchema {
  type?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  [keyword: string]: unknown;
}

/** Argument that is declared with more than the path of its target field. */
interface ArgumentSpec {
  /** Path of the target: `params.id`, `query.limit`, `body.name`, `body.0.email`, or `body` for the whole body. */
  at: string;
  /** Description for the model, if the route's own description of the field is not enough. */
  description?: string;
  /** Set if the tool requires the argument although the route does not. */
  required?: true;
  /** Type shown to the model, if the route takes text, as for flags and numbers of a query. */
  schema?: JsonSchema;
  /** Value sent if the model omits the argument, if it differs from the route's own default. */
  fallback?: number;
}

/**
 * Groups of tools. An MCP client lists `core`, which is short enough for a model, and other groups on demand
 * (api/agents/mcp/more-tools.ts).
 */
export const TOOL_GROUPS = ['core', 'mailboxes', 'campaigns', 'inbox', 'crm', 'reports', 'events'] as const;
export type ToolGroup = (typeof TOOL_GROUPS)[number];

/** Declaration of an agent tool: a route with a name and arguments that a model understands. */
export interface ToolSpec {
  name: string;
  title: string;
  /** Group of the tool. Default: `core`. */
  group?: ToolGroup;
  /** Text for the model: the effect of the tool, when to use it, and its conditions and consequences. */
  description: string;
  route: AnyRoute;
  arguments: Record<string, string | ArgumentSpec>;
  /** True if repeating the call with the same arguments changes nothing more. Reads are always repeatable. */
  repeatable?: boolean;
  /** True if the tool can overwrite data or do something irreversible. */
  destructive?: boolean;
  /** Field to remove from the answer at any depth, because it may be long and is useless to a model. */
  omits?: string;
  /** True if the tool acts outside the workspace, such as sending emails or calling apps. */
  openWorld?: boolean;
}

/** Tool with its input schema, ready to be listed and called. */
export interface AgentTool extends ToolSpec {
  readonly inputSchema: JsonSchema & { type: 'object' };
  /** Schema of the structured answer, one level deep, because whole schemas would cost many tokens. */
  readonly outputSchema: JsonSchema & { type: 'object' };
  group: ToolGroup;
  readOnly: boolean;
}

export const IDEMPOTENCY_KEY = 'idempotency_key';
const KEY_HEADER = 'headers.idempotency-key';
const KEY_DESCRIPTION = 'Unique, repeated in a retry';
/** Maximum number of fields that the schema of an answer lists. */
const MAX_OUTLINED = 6;

/**
 * Creates a tool of a route. Its input schema is derived from the route's schemas when it is first read. Reading it
 * throws if the tool names a field that the route does not have.
 */
export function defineTool(spec: ToolSpec): AgentTool {
  const takesKey = idempotencyOf(spec.route) !== 'none';
  let inputSchema: AgentTool['inputSchema'] | undefined;
  let outputSchema: AgentTool['outputSchema'] | undefined;
  return {
    ...spec,
    group: spec.group ?? 'core',
    arguments: takesKey ? { ...spec.arguments, [IDEMPOTENCY_KEY]: KEY_HEADER } : spec.arguments,
    get inputSchema() {
      return (inputSchema ??= deriveInputSchema(spec));
    },
    get outputSchema() {
      return (outputSchema ??= deriveOutputSchema(spec));
    },
    readOnly: !isWrite(spec.route),
  };
}

/**
 * Derives a tool's input schema from its route's schemas.
 * @throws Error when an argument names a field that the route does not have
 */
function deriveInputSchema(spec: ToolSpec): AgentTool['inputSchema'] {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, argument] of Object.entries(spec.arguments)) {
    const { at, description, schema, fallback, required: demanded } = toArgumentSpec(argument);
    const found = findField(spec.route, at);
    if (!found) throw new Error(`${spec.name}: ${spec.route.operationId} has no ${at}`);
    properties[name] = {
      ...forModels(schema ?? found.schema),
      ...(fallback === undefined ? {} : { default: fallback }),
      ...(description ? { description } : {}),
    };
    if (found.required || demanded) required.push(name);
  }
  const mode = idempotencyOf(spec.route);
  if (mode !== 'none') properties[IDEMPOTENCY_KEY] = { type: 'string', description: KEY_DESCRIPTION };
  if (mode === 'required') required.push(IDEMPOTENCY_KEY);
  return {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/**
 * Derives the schema of a tool's structured answer from its route's answers. An answer that is no object becomes the
 * field `result`.
 */
function deriveOutputSchema({ route, omits }: ToolSpec): AgentTool['outputSchema'] {
  const { body } = route.success;
  const answer = body && body !== 'stream' ? (toSchema(body, 'output') as JsonSchema) : undefined;
  if (!answer?.properties) return { type: 'object', properties: { result: answer ? outline(answer) : {} } };
  const properties = Object.fromEntries(
    Object.entries(answer.properties)
      .filter(([name]) => name !== omits)
      .map(([name, schema]) => [name, outline(schema)]),
  );
  // The answer about an action that waits for a person has other fields.
  if (route.awaiting || Object.keys(properties).length > MAX_OUTLINED) return { type: 'object' };
  return { type: 'object', properties };
}

/** Returns the type of a schema, without its properties. */
function outline({ type }: JsonSchema): JsonSchema {
  return type === undefined ? {} : { type };
}

/**
 * Builds the request to the tool's route from the arguments. Arguments that the tool does not declare are dropped.
 */
export function toRequest(tool: AgentTool, args: Record<string, unknown>): RouteRequest {
  const request: RouteRequest = {
    params: {},
    query: {},
    body: tool.route.method === 'get' ? undefined : {},
    files: {},
    headers: {},
  };
  for (const [name, argument] of Object.entries(tool.arguments)) {
    const { at, fallback } = toArgumentSpec(argument);
    const value = args[name] ?? fallback;
    if (value !== undefined) writeValue(request, at.split('.'), value);
  }
  return request;
}

/**
 * Returns problems that only the tool can find: unknown arguments, and missing ones that only the tool requires. Paths
 * are argument names.
 */
export function ownProblems(tool: AgentTool, args: Record<string, unknown>): Problem[] {
  const problems = Object.keys(args)
    .filter((name) => !Object.hasOwn(tool.arguments, name))
    .map((path) => ({ path, message: message('field.unknown_argument') }));
  for (const [name, argument] of Object.entries(tool.arguments)) {
    const { at, required } = toArgumentSpec(argument);
    const missing = args[name] === undefined;
    if (missing && (required || (at === KEY_HEADER && idempotencyOf(tool.route) === 'required')))
      problems.push({ path: name, message: message('field.required') });
    if (at === KEY_HEADER && !missing && !isKey(args[name]))
      problems.push({ path: name, message: keyFault(args[name]) });
  }
  return problems;
}

function isKey(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_KEY_LENGTH;
}

function keyFault(key: unknown): Message {
  return typeof key === 'string'
    ? message('field.text_longer', { max: MAX_KEY_LENGTH })
    : message('field.type', { type: message('type.string') });
}

/**
 * Translates a problem of the route's request to the tool's argument. A problem that belongs to no argument is returned
 * unchanged.
 */
export function asArgumentProblem(tool: AgentTool, problem: Problem, prefix: string): Problem {
  const path = problem.path.toLowerCase();
  for (const [name, argument] of Object.entries(tool.arguments)) {
    const { at } = toArgumentSpec(argument);
    if (path === at || path.startsWith(`${at}.`))
      return { ...problem, path: `${prefix}${name}${problem.path.slice(at.length)}` };
  }
  return problem;
}

/** Translates an error of the route so that its problems name the tool's arguments. */
export function asArgumentError(tool: AgentTool, error: AppError, prefix: string): AppError {
  if (!error.problems) return error;
  return new AppError(error.code, error.said, {
    problems: error.problems.map((problem) => asArgumentProblem(tool, problem, prefix)),
    ...(error.fix ? { fix: error.fix } : {}),
    ...(error.extra ? { extra: error.extra } : {}),
    ...(error.headers ? { headers: error.headers } : {}),
    cause: error,
  });
}

/** Keywords that a model does not need. The route still checks them and reports the problem. */
const UNTOLD = new Set(['additionalProperties', 'minLength', 'maxLength', 'maxItems', 'id']);

/**
 * Removes keywords that are not worth their tokens: limits of lengths, the default bounds of integers, and patterns
 * that repeat a `format`.
 */
function forModels<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(forModels) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(
    ([keyword, value]) =>
      !(keyword === 'pattern' && 'format' in schema) &&
      keyword !== 'propertyNames' &&
      !(UNTOLD.has(keyword) && typeof value !== 'object') &&
      !((keyword === 'maximum' || keyword === 'minimum') && !Number.isSafeInteger(Number(value) * 2)),
  );
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, forModels(value)])) as T;
}

function toArgumentSpec(argument: string | ArgumentSpec): ArgumentSpec {
  return typeof argument === 'string' ? { at: argument } : argument;
}

function findField(spec: AnyRoute, at: string): { schema: JsonSchema; required: boolean } | undefined {
  const [part, ...path] = at.split('.') as ['params' | 'query' | 'body', ...string[]];
  const type: z.ZodType | undefined = spec[part];
  if (!type) return undefined;
  let schema = toSchema(type, 'input') as JsonSchema;
  let required = path.length > 0 || !type.safeParse(undefined).success;
  for (const name of path) {
    if (schema.items && /^\d+$/.test(name)) {
      schema = schema.items;
      continue;
    }
    const next: JsonSchema | undefined = schema.properties?.[name];
    if (!next) return undefined;
    required &&= schema.required?.includes(name) ?? false;
    schema = next;
  }
  return { schema, required };
}

/**
 * Writes a value into a request and creates missing objects and lists. Query values are converted to text, as in a URL.
 */
function writeValue(request: RouteRequest, path: readonly string[], value: unknown): void {
  const text = path[0] === 'query' && (typeof value === 'number' || typeof value === 'boolean');
  let target = request as unknown as Record<string, unknown>;
  for (const [depth, name] of path.slice(0, -1).entries()) {
    const wanted = /^\d+$/.test(path[depth + 1]!);
    if (target[name] === undefined || Array.isArray(target[name]) !== wanted) target[name] = wanted ? [] : {};
    target = target[name] as Record<string, unknown>;
  }
  target[path.at(-1)!] = text ? String(value) : value;
}
