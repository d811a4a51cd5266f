import type { Context } from 'koa';
import { z } from 'zod';
import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { refuseProblems, type Problem } from '../../lib/errors.ts';
import { issueMessage } from '../../lib/issue-message.ts';
import { isUuid } from '../../lib/ids.ts';
import type { MultipartFile } from '../../lib/multipart.ts';
import { toComposed, isJsonObject, unstorableParts } from '../../lib/storable-json.ts';
import { nearestName } from '../../lib/nearest-name.ts';
import { message } from '../../messages/index.ts';
import { keyProblems } from './idempotency.ts';
import { refusesUnknownQuery, type AnyRoute, type RouteInput, type RouteRequest, type UploadedFile } from './route.ts';

/** Checked parts of a request, as passed to a handler. */
export type Input = RouteInput<unknown, Record<string, unknown>, unknown, undefined>;

/** Converts an HTTP request whose body is parsed to the request of a route. */
export function requestOf(koa: Context): RouteRequest {
  return {
    params: koa.params,
    query: koa.query,
    body: (koa.request as { body?: unknown }).body,
    files: uploadedFiles(koa),
    headers: koa.headers as Record<string, string | undefined>,
  };
}

/**
 * Reads params, query and body with the schemas of a route, text normalized to NFC. For every route, refuses text that
 * PostgreSQL cannot store (NUL, unpaired surrogates), integers beyond 2^53, too deep nesting and a missing
 * Idempotency-Key.
 * @throws AppError bad_request, or the code of the route, with all problems at once
 */
export async function readInput(
  spec: AnyRoute,
  ctx: Ctx,
  request: RouteRequest,
): Promise<Pick<Input, 'params' | 'query' | 'body'>> {
  const { values, problems } = parse(spec, request);
  if (problems.length > 0) {
    const all = await addRouteProblems(spec, ctx, request, problems);
    refuseProblems(all, spec.refusal?.(all[0]!));
  }
  return values;
}

/** Returns all problems of a request, each with its path: malformed fields, and rules that well-formed fields break. */
export async function requestProblems(spec: AnyRoute, ctx: Ctx, request: RouteRequest): Promise<readonly Problem[]> {
  return addRouteProblems(spec, ctx, request, parse(spec, request).problems);
}

/** Adds the problems that the route itself finds in the well-formed fields of the body. */
async function addRouteProblems(
  spec: AnyRoute,
  ctx: Ctx,
  request: RouteRequest,
  known: readonly Problem[],
): Promise<readonly Problem[]> {
  if (!spec.furtherProblems || !spec.body) return known;
  const faulty = new Set(known.map(({ path }) => path));
  const sound = wellFormedPart(spec.body, request.body, 'body', (path) =>
    [...faulty].some((at) => at === path || at.startsWith(`${path}.`)),
  );
  if (sound === undefined) return known;
  const found = await spec.furtherProblems(ctx, sound as object, request.params as { [name: string]: string });
  // A faulty field was left out above, so a problem of the whole field would be about its absence.
  return [...known, ...found.filter(({ path }) => !isOfFaultyField(path, faulty))];
}

/** Returns true for the path of a field of the body in which there is a problem of the form. */
function isOfFaultyField(path: string, faulty: ReadonlySet<string>): boolean {
  return /^body\.[a-z]\w*$/i.test(path) && [...faulty].some((at) => at.startsWith(`${path}.`));
}

/**
 * Returns the fields of an object that its schema accepts. For a list of objects, returns the accepted fields of each.
 * Returns undefined for any other value.
 */
function wellFormedPart(schema: z.ZodType, value: unknown, path: string, isFaulty: (path: string) => boolean): unknown {
  if (schema instanceof z.ZodArray && Array.isArray(value) && schema.element instanceof z.ZodObject) {
    const { element } = schema;
    return value.map((part, index) => wellFormedPart(element, part, `${path}.${index}`, isFaulty) ?? {});
  }
  if (!(schema instanceof z.ZodObject) || !isJsonObject(value)) return undefined;
  const sound: Record<string, unknown> = {};
  for (const [field, fieldSchema] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
    if (!Object.hasOwn(value, field) || isFaulty(`${path}.${field}`)) continue;
    const parsed = fieldSchema.safeParse(value[field]);
    if (parsed.success && parsed.data !== undefined) sound[field] = parsed.data;
  }
  return sound;
}

/**
 * Converts the ids in a path to lower case, as they are stored, because handlers compare them and build workflow ids
 * from them.
 */
function withLowerCaseIds(params: RouteRequest['params']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries((params ?? {}) as Record<string, unknown>).map(([name, value]) => [
      name,
      isUuid(value) ? value.toLowerCase() : value,
    ]),
  );
}

/** Parses the parts of a request with the route's schemas and collects every problem with its path. */
function parse(
  spec: AnyRoute,
  request: RouteRequest,
): { values: Pick<Input, 'params' | 'query' | 'body'>; problems: Problem[] } {
  const problems = [
    ...keyProblems(spec, request),
    ...(spec.files ?? [])
      .filter((part) => !request.files[part])
      .map((part) => ({ path: `body.${part}`, message: message('field.required_file') })),
    ...unstorableParts(request.query, 'query'),
    ...unstorableParts(request.body, 'body'),
    ...Object.entries(request.files).flatMap(([part, { filename }]) =>
      unstorableParts(filename, `body.${part}.filename`),
    ),
  ];
  const known = new Set(problems.map(({ path }) => path));
  problems.push(...unknownParameters(spec, request.query).filter(({ path }) => !known.has(path)));
  const read = (where: string, schema: z.ZodType | undefined, value: unknown): unknown => {
    if (!schema) return undefined;
    const parsed = schema.safeParse(value, { reportInput: true });
    if (parsed.success) return parsed.data;
    // A value with a structural problem may be nested too deeply to be copied.
    const { issues } = parsed.error;
    for (const issue of known.size > 0 ? issues : allIssues(schema, value, issues)) {
      const keys = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
      for (const key of keys) {
        const path = [where, ...issue.path.map(String), ...(key === undefined ? [] : [key])].join('.');
        const said = isRepeated(where, value, issue.path) ? message('field.repeated') : issueMessage(issue);
        if (!known.has(path)) problems.push({ path, message: key === undefined ? said : message('field.unknown') });
      }
    }
    return undefined;
  };
  // A value with a structural problem may be nested too deeply to be traversed.
  const given = (value: unknown) => (known.size > 0 ? value : toComposed(value));
  const values = {
    params: read('params', spec.params, withLowerCaseIds(given(request.params))) ?? {},
    query: (read('query', spec.query, given(request.query)) ?? {}) as Record<string, unknown>,
    body: read('body', spec.body, given(request.body ?? {})),
  };
  return { values, problems };
}

/**
 * Returns a problem for each query parameter that the route does not have. A misspelt filter would otherwise be
 * ignored, and the answer would contain too many rows.
 */
function unknownParameters(spec: AnyRoute, query: unknown): Problem[] {
  if (!refusesUnknownQuery(spec)) return [];
  const known = Object.keys(spec.query?.shape ?? {});
  return Object.keys(query ?? {})
    .filter((name) => !known.includes(name))
    .map((name) => {
      const nearest = nearestName(name, known);
      return {
        path: `query.${name}`,
        message: nearest ? message('field.unknown_parameter_near', { nearest }) : message('field.unknown_parameter'),
      };
    });
}

/** Returns true if the issue concerns a query parameter that was sent several times. */
function isRepeated(where: string, value: unknown, [name]: readonly PropertyKey[]): boolean {
  return where === 'query' && name !== undefined && Array.isArray((value as Record<PropertyKey, unknown>)[name]);
}

/**
 * Returns all issues of a value, including rules about several fields. zod skips such rules if a number is not an
 * integer. The value is then parsed again with truncated numbers.
 */
function allIssues(
  schema: z.ZodType,
  value: unknown,
  issues: readonly z.core.$ZodIssue[],
): readonly z.core.$ZodIssue[] {
  const fractions = issues.filter((issue) => issue.code === 'invalid_type' && issue.expected === 'int');
  if (fractions.length === 0) return issues;
  const whole = structuredClone(value);
  for (const { path } of fractions) truncateNumber(whole, path);
  const seen = new Set(issues.map(({ path, message }) => JSON.stringify([path, message])));
  const further = schema.safeParse(whole, { reportInput: true }).error?.issues ?? [];
  return [...issues, ...further.filter(({ path, message }) => !seen.has(JSON.stringify([path, message])))];
}

function truncateNumber(value: unknown, path: readonly PropertyKey[]): void {
  const holder = path.slice(0, -1).reduce<any>((part, key) => part?.[key], value);
  const key = path.at(-1);
  if (typeof holder === 'object' && holder !== null && key !== undefined) holder[key] = Math.trunc(Number(holder[key]));
}

function uploadedFiles(koa: Context): Record<string, UploadedFile> {
  const files = (koa.state.files ?? {}) as Record<string, MultipartFile>;
  return Object.fromEntries(
    Object.entries(files).map(([name, { path, filename, sizeBytes, sha256 }]) => [
      name,
      { path, filename, size: sizeBytes, sha256 },
    ]),
  );
}
