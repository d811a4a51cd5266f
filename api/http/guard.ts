import type { Middleware } from 'koa';
import { assertMailboxAllowed, type Actor } from '../../domain/platform/kernel/actor.ts';
import { withOwnShare, type Ctx } from '../../domain/platform/kernel/context.ts';
import { askQuestion } from '../../domain/platform/kernel/question.ts';
import { assertWorkspaceStays } from '../../domain/platform/workspace-deletion.ts';
import { AppError } from '../../lib/errors.ts';
import { namedLanguage } from './language.ts';
import { authenticateCaller } from './authenticate.ts';
import { serializeAnswer } from './answer.ts';
import { assertServed, authorize } from './authorize.ts';
import { readInput, requestOf, type Input } from './input.ts';
import type { GuardParts } from './guard-parts.ts';
import { withIdempotency } from './idempotency.ts';
import { countWrite } from './rate-limit.ts';
import type { AnyRoute, RouteAnswer, RouteRequest } from './route.ts';

/*
 * Steps of a request up to its handler, one per file:
 * - `authenticate`: identifies the caller; checks the credential, its allowed addresses and its rate
 * - `under-way`: limits the open requests of the credential
 * - `authorize`: checks workspace, scope or permission, and the workspace's write rate
 * - `input`: parses params, query and body, and reports all problems at once; a refused caller's body is never read
 * - `idempotency`: with an Idempotency-Key, sends the stored answer or opens the transaction of the handler
 * - `answer`: checks the handler's result against the schema, and serializes it
 */

/** Runs the steps before the body is read. */
export function admission(spec: AnyRoute, parts: GuardParts): Middleware {
  return async (koa, next) => {
    assertServed(spec, parts.deps.config);
    const actor = await authenticateCaller(spec, parts, koa);
    const end = spec.stops === undefined ? parts.underWay.begin(actor) : undefined;
    try {
      await authorize(spec, parts, actor, { reportQuota: koa.state.reportQuota });
      koa.state.actor = actor;
      await next();
    } finally {
      end?.();
    }
  };
}

/**
 * Runs the remaining steps: reads the body, runs the handler once per Idempotency-Key, and checks and sends its answer.
 */
export function guard(spec: AnyRoute, parts: GuardParts): Middleware {
  return async (koa) => {
    const actor = koa.state.actor as Actor;
    const language = namedLanguage(koa.get('accept-language'));
    const named = language ? { language } : {};
    const { log, requestId, reportQuota } = koa.state;
    const ctx = withOwnShare(
      { ...parts.deps, log, actor, requestId, reportQuota, ...named },
      { isUrgent: spec.stops !== undefined },
    );
    const { status, headers, cookies, body } = await invoke(spec, parts, ctx, requestOf(koa));
    koa.status = status;
    koa.set(headers);
    if (cookies?.length) koa.set('Set-Cookie', [...cookies]);
    koa.body = body;
  };
}

/**
 * Runs a route for an admitted and authorized caller. HTTP requests and in-process calls reach handlers only through
 * this function.
 */
async function invoke(spec: AnyRoute, parts: GuardParts, ctx: Ctx, request: RouteRequest): Promise<RouteAnswer> {
  const input: Input = {
    ...(await readInput(spec, ctx, request)),
    files: request.files,
    headers: request.headers,
    prepared: undefined,
    invoke: async (other, inner) => {
      await authorize(other, parts, ctx.actor, { asked: spec, reportQuota: ctx.reportQuota });
      return invoke(other, parts, ctx, inner);
    },
  };
  // The body of this route determines if the write stops something. A write that stops something is not counted.
  if (typeof spec.stops === 'function' && ctx.actor.organizationId && !spec.stops(input.body)) {
    assertWorkspaceStays(ctx.actor);
    await countWrite(parts.limiter, ctx.actor, parts.deps.config.ORG_WRITES_PER_MINUTE, ctx.reportQuota);
  }
  if (spec.mailboxParam)
    assertMailboxAllowed(ctx.actor, String((request.params as Record<string, string>)[spec.mailboxParam]));
  return withIdempotency(spec, ctx, request, {
    prepare: spec.prepare && (async () => spec.prepare?.(ctx, input)),
    run: async (inner, prepared) => {
      const handle = (given: Ctx) => spec.handler(given, { ...input, prepared });
      const result = await (spec.isQuestion ? askQuestion(inner, handle) : handle(inner));
      return result instanceof AppError ? result : serializeAnswer(spec, parts, inner, result);
    },
  });
}
