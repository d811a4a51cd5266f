import type { Context, Middleware } from 'koa';
import type { z } from 'zod';
import { assertMailboxAllowed, type Actor } from '../../domain/kernel/actor.ts';
import type { Ctx, Deps } from '../../domain/kernel/context.ts';
import { idempotentRequest, performOnce } from '../../domain/kernel/idempotency.ts';
import { AppError, type Problem } from '../../lib/errors.ts';
import { holds, type OrgPermission } from '../../lib/permissions.ts';
import type { ActorResolver } from '../../domain/access/resolve-actor.ts';
import { refuseIfLimited, type RateLimiter } from './rate-limit.ts';
import { idempotencyOf, isWrite, type AnyRoute, type PermissionRule, type RouteInput, type StreamReply, type UploadedFile } from './route.ts';

const ANONYMOUS: Actor = {
  kind: 'system', userId: null, organizationId: null, permissions: 0, orgPermissions: new Set(), isOwner: false,
  isPlatformAdmin: false, allowedMailboxes: null, ipAddress: '', userAgent: '',
};
const MAX_KEY_LENGTH = 255;
/** Characters of a user agent that are kept. */
export const MAX_USER_AGENT = 512;

export interface GuardParts {
  deps: Deps;
  actors: ActorResolver;
  limiter: RateLimiter;
  /** Check every answer and refuse (500) one that does not fit its schema, instead of logging what a sample finds; on in tests. */
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
    const input = readInput(spec, koa);
    if (spec.mailboxParam) assertMailboxAllowed(actor, String((koa.params as Record<string, string>)[spec.mailboxParam]));
    const answer = await perform(spec, parts, ctx, input, koa);
    koa.status = answer.status;
    for (const [name, value] of Object.entries(answer.headers)) koa.set(name, value);
    koa.body = answer.body;
  };
}

async function identify(spec: AnyRoute, parts: GuardParts, koa: Context, origin: { ipAddress: string; userAgent: string }): Promise<Actor> {
  if (spec.scope === 'public') return { ...ANONYMOUS, ...origin };
  const header = koa.get('authorization');
  if (!/^Bearer \S/i.test(header)) {
    throw new AppError('unauthorized', 'This endpoint needs a credential', {
      fix: 'Send Authorization: Bearer <API key, access token or session token>.',
      headers: { 'WWW-Authenticate': 'Bearer' },
    });
  }
  const caller = await parts.actors.resolve(header.slice(7).trim(), origin, (known) => {
    koa.state.apiKeyId = known.apiKeyId;
  });
  if (caller.rate) refuseIfLimited(parts.limiter.take(caller.rate.key, caller.rate.perMinute), 'the limit of this API key is reached');
  if (spec.organization !== false && !caller.actor.organizationId) {
    throw new AppError('no_organization', 'No workspace is selected', { fix: 'Select one with POST /v1/organizations/:id/select.' });
  }
  authorize(spec, caller.actor);
  if (isWrite(spec) && caller.actor.organizationId) {
    const wait = parts.limiter.take(`org/${caller.actor.organizationId}`, parts.deps.config.ORG_WRITES_PER_MINUTE);
    refuseIfLimited(wait, 'the write limit of this workspace is reached');
  }
  return caller.actor;
}

/** @throws AppError forbidden when the scope (key, token) or the permission (session) is missing */
function authorize(spec: AnyRoute, actor: Actor): void {
  if (actor.kind !== 'session') {
    if (spec.scope === 'session') throw new AppError('forbidden', 'This endpoint is for signed-in people, not for keys');
    if (Array.isArray(spec.scope) && !holds(actor.permissions, spec.scope)) {
      throw new AppError('forbidden', `The credential lacks a scope this endpoint needs: ${spec.scope.join(', ')}`);
    }
    return;
  }
  if (spec.permission !== null && !allows(actor, spec.permission)) {
    throw new AppError('forbidden', `Your role lacks a permission this endpoint needs: ${permissionText(spec.permission)}`);
  }
}

function allows(actor: Actor, rule: PermissionRule): boolean {
  const has = (permission: OrgPermission | 'owner') => (permission === 'owner' ? actor.isOwner : actor.orgPermissions.has(permission));
  if (typeof rule === 'string') return has(rule);
  return 'anyOf' in rule ? rule.anyOf.some(has) : rule.allOf.every(has);
}

/** A permission rule in the notation of the contract's route table. */
export function permissionText(rule: PermissionRule | null): string {
  if (rule === null) return '-';
  if (typeof rule === 'string') return rule;
  return 'anyOf' in rule ? rule.anyOf.join('|') : rule.allOf.join('+');
}

type Input = RouteInput<unknown, unknown, unknown, undefined>;

/** Checks params, query and body; all faults come back at once, each with its path. */
function readInput(spec: AnyRoute, koa: Context): Input {
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
  const body = (koa.request as { body?: unknown }).body;
  const input: Input = {
    params: read('params', spec.params, koa.params) ?? {},
    query: read('query', spec.query, koa.query) ?? {},
    body: read('body', spec.body, body ?? {}),
    files: uploadedFiles(koa),
    headers: koa.headers as Record<string, string | undefined>,
    prepared: undefined,
  };
  if (problems.length > 0) {
    throw new AppError('bad_request', `The request has ${problems.length} problem${problems.length === 1 ? '' : 's'}`, { problems });
  }
  return input;
}

function uploadedFiles(koa: Context): Record<string, UploadedFile> {
  const files = (koa.request as { files?: Record<string, unknown> }).files ?? {};
  const out: Record<string, UploadedFile> = {};
  for (const [name, value] of Object.entries(files)) {
    const file = (Array.isArray(value) ? value[0] : value) as
      | { filepath: string; originalFilename?: string | null; size: number; hash?: string | null }
      | undefined;
    if (file) out[name] = { path: file.filepath, filename: file.originalFilename ?? name, size: file.size, sha256: file.hash ?? '' };
  }
  return out;
}

async function perform(spec: AnyRoute, parts: GuardParts, ctx: Ctx, input: Input, koa: Context): Promise<Answer> {
  const mode = idempotencyOf(spec);
  const key = mode === 'none' ? '' : koa.get('idempotency-key');
  if (mode === 'required' && !key) {
    throw new AppError('bad_request', 'This endpoint needs an Idempotency-Key', {
      problems: [{ path: 'headers.Idempotency-Key', message: 'Required' }],
      fix: 'Send any unique string, and the same one again only to repeat the identical request.',
    });
  }
  if (key.length > MAX_KEY_LENGTH) {
    throw new AppError('bad_request', 'The Idempotency-Key is too long', { problems: [{ path: 'headers.Idempotency-Key', message: 'At most 255 characters' }] });
  }
  const run = async (inner: Ctx, prepared: unknown) => toAnswer(spec, parts, inner, await spec.handler(inner, { ...input, prepared }));
  if (!key) return run(ctx, await spec.prepare?.(ctx, input));

  const files = Object.entries(input.files).map(([name, file]) => [name, file.sha256]);
  const asked = [koa.params, koa.query, (koa.request as { body?: unknown }).body ?? null, ...files];
  const request = idempotentRequest(ctx, spec.operationId, key, asked);
  const { answer, replayed } = await performOnce(ctx, request, {
    prepare: async () => spec.prepare?.(ctx, input),
    async run(inner, prepared) {
      const { body, ...rest } = await run(inner, prepared);
      if (!Buffer.isBuffer(body)) throw new Error(`${spec.operationId}: a streamed answer cannot be stored for its Idempotency-Key`);
      return { ...rest, body };
    },
  });
  return replayed ? { ...answer, headers: { ...answer.headers, 'Idempotent-Replayed': 'true' } } : answer;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Buffer | StreamReply['stream'] | null;
}

function toAnswer(spec: AnyRoute, parts: GuardParts, ctx: Ctx, result: unknown): Answer {
  const schema = spec.success.body;
  if (schema === 'stream') {
    const reply = result as StreamReply;
    return { status: spec.success.status, headers: { 'Content-Type': reply.contentType, ...reply.headers }, body: reply.stream };
  }
  if (!schema) return { status: spec.success.status, headers: {}, body: Buffer.alloc(0) };
  if (parts.strictResponses || dueForCheck(spec)) {
    const checked = schema.safeParse(result);
    if (!checked.success) {
      if (parts.strictResponses) throw new Error(`${spec.operationId}: answer does not fit its schema: ${checked.error.message}`);
      ctx.log.error({ operationId: spec.operationId, issues: checked.error.issues.map((issue) => issue.path.join('.')) }, 'answer does not fit its schema');
    }
  }
  return {
    status: spec.success.status,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: Buffer.from(JSON.stringify(result)),
  };
}

/** An answer that does not fit is a fault of code, not of one request: outside of tests the first few and then a sample find it. */
const CHECK_FIRST = 50;
const CHECK_EVERY = 20;
const answered = new WeakMap<AnyRoute, number>();

function dueForCheck(spec: AnyRoute): boolean {
  const count = (answered.get(spec) ?? 0) + 1;
  answered.set(spec, count);
  return count <= CHECK_FIRST || count % CHECK_EVERY === 0;
}
