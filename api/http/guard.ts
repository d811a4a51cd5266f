import type { Context, Middleware } from 'koa';
import type { z } from 'zod';
import { assertMailboxAllowed, type Actor } from '../../domain/kernel/actor.ts';
import type { Ctx, Deps } from '../../domain/kernel/context.ts';
import { idempotentRequest, performOnce } from '../../domain/kernel/idempotency.ts';
import type { Config } from '../../lib/config/index.ts';
import { AppError, type Problem } from '../../lib/errors.ts';
import { holds, type OrgPermission } from '../../lib/permissions.ts';
import type { ActorResolver } from '../../domain/identity/resolve-actor.ts';
import type { RateLimiter } from '../../lib/rate-limit.ts';
import { countKeyRequest, countWrite } from './rate-limit.ts';
import { insufficientScope, needsCredential, refusedCredential } from './challenge.ts';
import {
  idempotencyOf,
  isWrite,
  type AnyRoute,
  type PermissionRule,
  type Invoke,
  type RouteAnswer,
  type RouteInput,
  type RouteRequest,
  type StreamReply,
  type UploadedFile,
} from './route.ts';

const ANONYMOUS: Actor = {
  kind: 'system',
  userId: null,
  organizationId: null,
  permissions: 0,
  orgPermissions: new Set(),
  isOwner: false,
  isPlatformAdmin: false,
  allowedMailboxes: null,
  ipAddress: '',
  userAgent: '',
};
/** Characters of an Idempotency-Key. */
export const MAX_KEY_LENGTH = 255;
/** Characters of a user agent that are kept. */
export const MAX_USER_AGENT = 512;

export interface GuardParts {
  deps: Deps;
  actors: ActorResolver;
  limiter: RateLimiter;
  /**
   * Check every answer and refuse (500) one that does not fit its schema, instead of logging what a sample finds; on in
   * tests.
   */
  strictResponses: boolean;
}

/** Who calls, may they, how often. Comes before the body is read: a stranger's body is never parsed or put on disk. */
export function admit(spec: AnyRoute, parts: GuardParts): Middleware {
  return async (koa, next) => {
    const origin = { ipAddress: koa.ip, userAgent: koa.get('user-agent').slice(0, MAX_USER_AGENT) };
    koa.state.actor = await identify(spec, parts, koa, origin);
    await next();
  };
}

/** What stands between an admitted caller and a handler: is it well-formed, was it done before. */
export function guard(spec: AnyRoute, parts: GuardParts): Middleware {
  return async (koa) => {
    const actor = koa.state.actor as Actor;
    const ctx: Ctx = { ...parts.deps, log: koa.state.log, actor, requestId: koa.state.requestId };
    const answer = await invoke(spec, parts, ctx, requestOf(koa));
    koa.status = answer.status;
    for (const [name, value] of Object.entries(answer.headers)) koa.set(name, value);
    if (answer.cookies?.length) koa.set('Set-Cookie', [...answer.cookies]);
    koa.body = answer.body;
  };
}

/** What an admitted caller's request comes to. The one way to a handler, over HTTP and in process. */
async function invoke(spec: AnyRoute, parts: GuardParts, ctx: Ctx, request: RouteRequest): Promise<RouteAnswer> {
  const input = readInput(spec, request, async (other, inner) => {
    await permit(other, parts, ctx.actor, spec);
    return invoke(other, parts, ctx, inner);
  });
  if (spec.mailboxParam)
    assertMailboxAllowed(ctx.actor, String((request.params as Record<string, string>)[spec.mailboxParam]));
  return perform(spec, parts, ctx, input, request);
}

function requestOf(koa: Context): RouteRequest {
  return {
    params: koa.params,
    query: koa.query,
    body: (koa.request as { body?: unknown }).body,
    files: uploadedFiles(koa),
    headers: koa.headers as Record<string, string | undefined>,
  };
}

async function identify(
  spec: AnyRoute,
  parts: GuardParts,
  koa: Context,
  origin: { ipAddress: string; userAgent: string },
): Promise<Actor> {
  if (spec.scope === 'public') return { ...ANONYMOUS, ...origin };
  const header = koa.get('authorization');
  if (!/^Bearer \S/i.test(header)) throw needsCredential(spec, parts.deps.config);
  const known = (actor: Actor) => {
    koa.state.apiKeyId = actor.apiKeyId;
  };
  const caller = await parts.actors.resolve(header.slice(7).trim(), origin, known).catch((error: unknown) => {
    throw refusedCredential(spec, parts.deps.config, error);
  });
  await countKeyRequest(parts.limiter, caller);
  await permit(spec, parts, caller.actor);
  return caller.actor;
}

/**
 * Whether a known caller may use a route, and not too often for its workspace.
 * @param asked the route the request came to, whose challenge a refusal carries
 */
async function permit(spec: AnyRoute, parts: GuardParts, actor: Actor, asked: AnyRoute = spec): Promise<void> {
  if (spec.organization !== false && !actor.organizationId) {
    throw new AppError('no_organization', 'No workspace is selected', {
      fix: 'Select one with POST /v1/organizations/:id/select.',
    });
  }
  authorize(spec, parts.deps.config, actor, asked);
  if (isWrite(spec) && actor.organizationId)
    await countWrite(parts.limiter, actor.organizationId, parts.deps.config.ORG_WRITES_PER_MINUTE);
}

/** Whether the scope (key, token) or the permission (session) of a route is held. */
export function isPermitted(spec: AnyRoute, actor: Actor): boolean {
  if (spec.scope === 'public') return true;
  if (actor.kind === 'session') return spec.permission === null || allows(actor, spec.permission);
  return spec.scope === 'any' || (spec.scope !== 'session' && holds(actor.permissions, spec.scope));
}

/** @throws AppError forbidden when the scope (key, token) or the permission (session) is missing */
function authorize(spec: AnyRoute, config: Config, actor: Actor, asked: AnyRoute): void {
  if (isPermitted(spec, actor)) return;
  if (actor.kind === 'session') {
    throw new AppError(
      'forbidden',
      `Your role lacks a permission this endpoint needs: ${permissionText(spec.permission)}`,
    );
  }
  if (!Array.isArray(spec.scope))
    throw new AppError('forbidden', 'This endpoint is for signed-in people, not for keys');
  throw insufficientScope(asked, config, actor, spec.scope);
}

function allows(actor: Actor, rule: PermissionRule): boolean {
  const has = (permission: OrgPermission | 'owner') =>
    permission === 'owner' ? actor.isOwner : actor.orgPermissions.has(permission);
  if (typeof rule === 'string') return has(rule);
  return 'anyOf' in rule ? rule.anyOf.some(has) : rule.allOf.every(has);
}

/** A permission rule as one word, for the OpenAPI document: `a|b` is any of them, `a+b` all of them. */
export function permissionText(rule: PermissionRule | null): string {
  if (rule === null) return '-';
  if (typeof rule === 'string') return rule;
  return 'anyOf' in rule ? rule.anyOf.join('|') : rule.allOf.join('+');
}

type Input = RouteInput<unknown, unknown, unknown, undefined>;

/** The parts of a request as its route's schemas read them, and every fault of them, each with its path. */
function parse(
  spec: AnyRoute,
  request: RouteRequest,
): { values: Pick<Input, 'params' | 'query' | 'body'>; problems: Problem[] } {
  const problems: Problem[] = [];
  const read = (where: string, schema: z.ZodType | undefined, value: unknown): unknown => {
    if (!schema) return undefined;
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      const keys = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
      for (const key of keys) {
        const path = [where, ...issue.path.map(String), ...(key === undefined ? [] : [key])].join('.');
        problems.push({ path, message: key === undefined ? issue.message : 'Unknown field' });
      }
    }
    return undefined;
  };
  const values = {
    params: read('params', spec.params, request.params) ?? {},
    query: read('query', spec.query, request.query) ?? {},
    body: read('body', spec.body, request.body ?? {}),
  };
  return { values, problems };
}

/** Every fault that keeps a request from being well-formed for a route, each with its path. */
export function requestProblems(spec: AnyRoute, request: RouteRequest): Problem[] {
  return parse(spec, request).problems;
}

/** @throws AppError bad_request with all faults of params, query and body at once */
function readInput(spec: AnyRoute, request: RouteRequest, invokeOther: Invoke): Input {
  const { values, problems } = parse(spec, request);
  if (problems.length > 0) {
    throw new AppError('bad_request', `The request has ${problems.length} problem${problems.length === 1 ? '' : 's'}`, {
      problems,
    });
  }
  return { ...values, files: request.files, headers: request.headers, prepared: undefined, invoke: invokeOther };
}

function uploadedFiles(koa: Context): Record<string, UploadedFile> {
  const files = (koa.request as { files?: Record<string, unknown> }).files ?? {};
  const out: Record<string, UploadedFile> = {};
  for (const [name, value] of Object.entries(files)) {
    const file = (Array.isArray(value) ? value[0] : value) as
      | { filepath: string; originalFilename?: string | null; size: number; hash?: string | null }
      | undefined;
    if (file)
      out[name] = {
        path: file.filepath,
        filename: file.originalFilename ?? name,
        size: file.size,
        sha256: file.hash ?? '',
      };
  }
  return out;
}

async function perform(
  spec: AnyRoute,
  parts: GuardParts,
  ctx: Ctx,
  input: Input,
  request: RouteRequest,
): Promise<RouteAnswer> {
  const mode = idempotencyOf(spec);
  const key = mode === 'none' ? '' : (request.headers['idempotency-key'] ?? '');
  if (mode === 'required' && !key) {
    throw new AppError('bad_request', 'This endpoint needs an Idempotency-Key', {
      problems: [{ path: 'headers.Idempotency-Key', message: 'Required' }],
      fix: 'Send any unique string, and the same one again only to repeat the identical request.',
    });
  }
  if (key.length > MAX_KEY_LENGTH) {
    throw new AppError('bad_request', 'The Idempotency-Key is too long', {
      problems: [{ path: 'headers.Idempotency-Key', message: 'At most 255 characters' }],
    });
  }
  const run = async (inner: Ctx, prepared: unknown) =>
    toAnswer(spec, parts, inner, await spec.handler(inner, { ...input, prepared }));
  if (!key) return run(ctx, await spec.prepare?.(ctx, input));

  const files = Object.entries(input.files).map(([name, file]) => [name, file.sha256]);
  const asked = [request.params, request.query, request.body ?? null, ...files];
  const { answer, replayed } = await performOnce(ctx, idempotentRequest(ctx, spec.operationId, key, asked), {
    prepare: async () => spec.prepare?.(ctx, input),
    async run(inner, prepared) {
      const { body, ...rest } = await run(inner, prepared);
      if (!Buffer.isBuffer(body))
        throw new Error(`${spec.operationId}: a streamed answer cannot be stored for its Idempotency-Key`);
      return { ...rest, body };
    },
  });
  return replayed ? { ...answer, headers: { ...answer.headers, 'Idempotent-Replayed': 'true' } } : answer;
}

function toAnswer(spec: AnyRoute, parts: GuardParts, ctx: Ctx, result: unknown): RouteAnswer {
  const schema = spec.success.body;
  if (schema === 'stream') {
    const reply = result as StreamReply;
    const { status = spec.success.status, contentType, headers, cookies = [], stream } = reply;
    return { status, headers: { 'Content-Type': contentType, ...headers }, body: stream, cookies };
  }
  if (!schema) return { status: spec.success.status, headers: {}, body: Buffer.alloc(0) };
  if (parts.strictResponses || dueForCheck(spec)) {
    const checked = schema.safeParse(result);
    if (!checked.success) {
      if (parts.strictResponses)
        throw new Error(`${spec.operationId}: answer does not fit its schema: ${checked.error.message}`);
      ctx.log.error(
        { operationId: spec.operationId, issues: checked.error.issues.map((issue) => issue.path.join('.')) },
        'answer does not fit its schema',
      );
    }
  }
  return {
    status: spec.success.status,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: Buffer.from(JSON.stringify(result)),
  };
}

/**
 * An answer that does not fit is a fault of code, not of one request: outside of tests the first few and then a sample
 * find it.
 */
const CHECK_FIRST = 50;
const CHECK_EVERY = 20;
const answered = new WeakMap<AnyRoute, number>();

function dueForCheck(spec: AnyRoute): boolean {
  const count = (answered.get(spec) ?? 0) + 1;
  answered.set(spec, count);
  return count <= CHECK_FIRST || count % CHECK_EVERY === 0;
}
