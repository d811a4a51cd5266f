import type { Middleware } from 'koa';
import { assertMailboxAllowed, type Actor } from '../../domain/platform/kernel/actor.ts';
import { withOwnShare, type Ctx } from '../../domain/platform/kernel/context.ts';
import { askQuestion } from '../../domain/platform/kernel/question.ts';
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
 * The steps of a request up to its handler, one per file:
 *   admit      who calls: the credential, its allowed addresses, its rate and its requests under way
 *   authorize  whether they may: workspace, scope or permission, the workspace's write rate
 *   (the body is read here, so that of a refused caller is never read)
 *   readInput  params, query and body, all faults at once
 *   once       with an Idempotency-Key: the stored answer, or the transaction in which the handler runs
 *   answer     the handler's result, checked against the schema, as bytes
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
 * Runs the steps from the body on: reads it, runs the handler once per Idempotency-Key, and checks and sends its
 * answer.
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
 * Runs a route for an admitted and authorized caller. Handlers are reached only through here, over HTTP and in process.
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
  // Stopping something is not counted, and this route stops something only with some bodies.
  if (typeof spec.stops === 'function' && ctx.actor.organizationId && !spec.stops(input.body))
    await countWrite(parts.limiter, ctx.actor, parts.deps.config.ORG_WRITES_PER_MINUTE, ctx.reportQuota);
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
