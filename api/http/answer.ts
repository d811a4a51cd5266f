import type { Ctx } from '../../domain/platform/kernel/context.ts';
import type { GuardParts } from './guard-parts.ts';
import { Awaiting, type AnyRoute, type RouteAnswer, type StreamReply } from './route.ts';

/**
 * Serializes a handler's result as the bytes of the answer.
 * @throws Error (a 500) with strictResponses, when the result does not fit the route's schema
 */
export function serializeAnswer(spec: AnyRoute, parts: GuardParts, ctx: Ctx, result: unknown): RouteAnswer {
  const isAwaiting = result instanceof Awaiting;
  const schema = isAwaiting ? spec.awaiting : spec.success.body;
  const status = isAwaiting ? 202 : spec.success.status;
  if (schema === 'stream') {
    const reply = result as StreamReply;
    const { status: own = status, contentType, headers, cookies = [], stream } = reply;
    return { status: own, headers: { 'Content-Type': contentType, ...headers }, body: stream, cookies };
  }
  if (!schema) return { status, headers: {}, body: Buffer.alloc(0) };
  const body = isAwaiting ? result.body : result;
  if (parts.strictResponses || isDueForCheck(spec)) {
    const checked = schema.safeParse(body);
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
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: Buffer.from(JSON.stringify(body)),
  };
}

/**
 * Number of answers of a route that are checked before only a sample is checked. A bug that makes answers differ from
 * their schema occurs repeatedly, so a sample finds it.
 */
const CHECK_FIRST = 50;
const CHECK_EVERY = 20;
const answered = new WeakMap<AnyRoute, number>();

function isDueForCheck(spec: AnyRoute): boolean {
  const count = (answered.get(spec) ?? 0) + 1;
  answered.set(spec, count);
  return count <= CHECK_FIRST || count % CHECK_EVERY === 0;
}
