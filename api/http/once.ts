import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { idempotentRequest, performOnce } from '../../domain/platform/kernel/idempotency.ts';
import { AppError, type Problem } from '../../lib/errors.ts';
import { idempotencyOf, type AnyRoute, type RouteAnswer, type RouteRequest } from './route.ts';
import { message } from '../../messages/index.ts';

/** Characters of an Idempotency-Key. */
export const MAX_KEY_LENGTH = 255;

/** The two parts of what a route does. */
interface Work {
  /** Slow calls to outside services, before any transaction; undefined where there are none. */
  prepare: (() => Promise<unknown>) | undefined;
  /** The handler, up to its checked answer, or an error with which what it has written stays. */
  run(ctx: Ctx, prepared: unknown): Promise<RouteAnswer | AppError>;
}

/**
 * Does a route's work at most once per Idempotency-Key. With a key, a transaction opens here: the handler's verbs join it,
 * and what they changed commits together with the answer that a repeated request gets. Without one, each verb opens its own.
 * The key has been looked at by {@link keyProblems}.
 * @throws AppError conflict, and what the handler throws or returns
 */
export async function once(spec: AnyRoute, ctx: Ctx, request: RouteRequest, work: Work): Promise<RouteAnswer> {
  const key = idempotencyKey(spec, request);
  if (key === '') return orThrow(await work.run(ctx, await work.prepare?.()));
  const files = Object.entries(request.files).map(([name, file]) => [name, file.sha256]);
  const asked = [request.params, request.query, request.body ?? null, ...files];
  const { answer, replayed } = await performOnce(ctx, idempotentRequest(ctx, spec.operationId, key, asked), {
    prepare: work.prepare,
    async run(inner, prepared) {
      const done = await work.run(inner, prepared);
      if (done instanceof AppError) return done;
      const { body, ...rest } = done;
      if (!Buffer.isBuffer(body))
        throw new Error(`${spec.operationId}: a streamed answer cannot be stored for its Idempotency-Key`);
      return { ...rest, body };
    },
  });
  return replayed ? { ...answer, headers: { ...answer.headers, 'Idempotent-Replayed': 'true' } } : answer;
}

function orThrow(done: RouteAnswer | AppError): RouteAnswer {
  if (done instanceof AppError) throw done;
  return done;
}

/** Faults of the Idempotency-Key of a request: missing where the route requires one, or too long. */
export function keyProblems(spec: AnyRoute, request: RouteRequest): Problem[] {
  const path = 'headers.Idempotency-Key';
  const key = idempotencyKey(spec, request);
  if (idempotencyOf(spec) === 'required' && !key) return [{ path, message: message('field.key_required') }];
  return key.length > MAX_KEY_LENGTH ? [{ path, message: message('field.text_longer', { max: MAX_KEY_LENGTH }) }] : [];
}

/** The key of a request; empty where the route takes none, or the request has none. */
function idempotencyKey(spec: AnyRoute, request: RouteRequest): string {
  return idempotencyOf(spec) === 'none' ? '' : (request.headers['idempotency-key'] ?? '');
}
