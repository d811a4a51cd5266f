import type { z } from 'zod';
import { AppError, type Problem } from '../../../lib/errors.ts';
import { toSchema } from '../../http/openapi-schema.ts';
import { MAX_KEY_LENGTH } from '../../http/once.ts';
import { idempotencyOf, isWrite, type AnyRoute, type RouteRequest } from '../../http/route.ts';
import { message, type Message } from '../../../messages/index.ts';

/** A JSON Schema, as much of it as is read here. */
interface JsonSchema {
  type?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  [keyword: string]: unknown;
}

/** An argument that needs more than the path of the field it fills. */
interface ArgumentSpec {
  /** Where it goes: `params.id`, `query.limit`, `body.name`, `body.0.email`, or `body` for all of it. */
  at: string;
  /** For the model, where the route's own description of the field is not enough. */
  description?: string;
  /** Required by the tool although the route does not require it. */
  required?: true;
  /** What the model may send, where the route takes text (flags and numbers of a query). */
  schema?: JsonSchema;
  /** What is sent when the model says nothing, where it is not the route's own default. */
  fallback?: number;
}

/** One agent tool: a route under the name and with the arguments a model understands. */
export interface ToolSpec {
  name: string;
  title: string;
  /** Written for a model: what it does, when to use it, what to know before and after. */
  description: string;
  route: AnyRoute;
  arguments: Record<string, string | ArgumentSpec>;
  /** Whether calling it again with the same arguments changes nothing more; reads always are. */
  repeatable?: boolean;
  /** Whether it can overwrite data, or do something that cannot be undone. */
  destructive?: boolean;
  /** A field of the answer, at any depth, that a model has no use for and that may be long. */
  omits?: string;
  /** Whether it acts outside the workspace: sends mail, calls apps. */
  openWorld?: boolean;
}

/** A tool ready to be listed and called. */
export interface AgentTool extends ToolSpec {
  readonly inputSchema: JsonSchema & { type: 'object' };
  readOnly: boolean;
}

export const IDEMPOTENCY_KEY = 'idempotency_key';
const KEY_HEADER = 'headers.idempotency-key';
const KEY_DESCRIPTION =
  'Any unique string. Send the same one again only to repeat the identical call after an unclear failure: the first answer is repeated and nothing is done twice.';

/** A tool of a route. Its input schema is made of the route's own schemas when it is first read, and then throws for a field the route does not have. */
export function defineTool(spec: ToolSpec): AgentTool {
  const takesKey = idempotencyOf(spec.route) !== 'none';
  let inputSchema: AgentTool['inputSchema'] | undefined;
  return {
    ...spec,
    arguments: takesKey ? { ...spec.arguments, [IDEMPOTENCY_KEY]: KEY_HEADER } : spec.arguments,
    get inputSchema() {
      return (inputSchema ??= deriveInputSchema(spec));
    },
    readOnly: !isWrite(spec.route),
  };
}

/** @throws Error when an argument names a field that the route does not have */
function deriveInputSchema(spec: ToolSpec): AgentTool['inputSchema'] {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, argument] of Object.entries(spec.arguments)) {
    const { at, description, schema, fallback, required: demanded } = toArgumentSpec(argument);
    const found = lookUp(spec.route, at);
    if (!found) throw new Error(`${spec.name}: ${spec.route.operationId} has no ${at}`);
    properties[name] = {
      ...forModels(schema ?? found.schema),
      ...(fallback === undefined ? {} : { default: fallback }),
      ...(description ? { description } : {}),
    };
    if (found.required || demanded) required.push(name);
  }
  const mode = idempotencyOf(spec.route);
  if (mode !== 'none')
    properties[IDEMPOTENCY_KEY] = { type: 'string', maxLength: MAX_KEY_LENGTH, description: KEY_DESCRIPTION };
  if (mode === 'required') required.push(IDEMPOTENCY_KEY);
  return {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/** The request to the tool's route that these arguments make; arguments that the tool does not have are left out. */
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
    if (value !== undefined) put(request, at.split('.'), value);
  }
  return request;
}

/** Faults that only the tool can find: unknown arguments, and missing ones that only the tool requires. Paths are argument names. */
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

/** A fault of the route's request as a fault of the tool's arguments; one that is about no argument stays as it is. */
export function asArgumentProblem(tool: AgentTool, problem: Problem, prefix: string): Problem {
  const path = problem.path.toLowerCase();
  for (const [name, argument] of Object.entries(tool.arguments)) {
    const { at } = toArgumentSpec(argument);
    if (path === at || path.startsWith(`${at}.`))
      return { ...problem, path: `${prefix}${name}${problem.path.slice(at.length)}` };
  }
  return problem;
}

/** An error of the route, with its problems in terms of the tool's arguments. */
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

/** A schema without the patterns that only spell a format out, which a model cannot use. The route checks them all the same. */
function forModels<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(forModels) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(
    ([keyword]) => !(keyword === 'pattern' && 'format' in schema) && keyword !== 'propertyNames',
  );
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, forModels(value)])) as T;
}

function toArgumentSpec(argument: string | ArgumentSpec): ArgumentSpec {
  return typeof argument === 'string' ? { at: argument } : argument;
}

function lookUp(spec: AnyRoute, at: string): { schema: JsonSchema; required: boolean } | undefined {
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

/** Writes a value into a request, making the objects and lists on the way. A query is text, as in a URL. */
function put(request: RouteRequest, path: readonly string[], value: unknown): void {
  const text = path[0] === 'query' && (typeof value === 'number' || typeof value === 'boolean');
  let target = request as unknown as Record<string, unknown>;
  for (const [depth, name] of path.slice(0, -1).entries()) {
    const wanted = /^\d+$/.test(path[depth + 1]!);
    if (target[name] === undefined || Array.isArray(target[name]) !== wanted) target[name] = wanted ? [] : {};
    target = target[name] as Record<string, unknown>;
  }
  target[path.at(-1)!] = text ? String(value) : value;
}
