import type { Ctx } from '../../domain/platform/kernel/context.ts';
import { idempotentRequest, performOnce } from '../../domain/platform/kernel/idempotency.ts';
import { AppError, type Problem } from '../../lib/errors.ts';
import { idempotencyOf, type AnyRoute, type RouteAnswer, type RouteRequest } from './route.ts';
import { message } from '../../messages/index.ts';

/** Maximum number of characters of an Idempotency-Key. */
export const MAX_KEY_LENGTH = 255;

/** Work of a route in two parts, before the transaction and inside it. */
interface Work {
  /** Makes slow calls to outside services before any transaction; undefined if there are none. */
  prepare: (() => Promise<unknown>) | undefined;
  /**
   * Runs the handler and checks its answer. A returned error keeps the handler's writes; a thrown one rolls them back.
   */
  run(ctx: Ctx, prepared: unknown): Promise<RouteAnswer | AppError>;
}

/**
 * Does a route's work at most once per Idempotency-Key. With a key, opens a transaction for all domain functions that
 * the handler calls. Their changes commit together with the stored answer, which repeated requests get. Without a key,
 * each domain function opens its own transaction. {@link keyProblems} has already checked the key.
 * @throws AppError conflict, and what the handler throws or returns
 */
export async function withIdempotency(
  spec: AnyRoute,
  ctx: Ctx,
  request: RouteRequest,
  work: Work,
): Promise<RouteAnswer> {
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

/** Returns the problems of a request's Idempotency-Key: missing although required, or too long. */
export function keyProblems(spec: AnyRoute, request: RouteRequest): Problem[] {
  const path = 'headers.Idempotency-Key';
  const key = idempotencyKey(spec, request);
  if (idempotencyOf(spec) === 'required' && !key) return [{ path, message: message('field.key_required') }];
  return key.length > MAX_KEY_LENGTH ? [{ path, message: message('field.text_longer', { max: MAX_KEY_LENGTH }) }] : [];
}

/** Returns the Idempotency-Key of a request; empty if it has none or the route takes none. */
function idempotencyKey(spec: AnyRoute, request: RouteRequest): string {
  return idempotencyOf(spec) === 'none' ? '' : (request.headers['idempotency-key'] ?? '');
}
