import type { EgressResponse } from '../../../lib/egress/index.ts';
import { signPayload } from '../../../lib/signature.ts';
import type { Ctx } from '../../platform/kernel/context.ts';

/** Longest answer of an app that is read, in bytes. */
export const MAX_ANSWER_BYTES = 64 * 1024;

interface SignedRequest {
  event: 'app.ping' | 'app.action' | 'automation.action';
  /** Stable across retries: the app dedupes on it. */
  eventId: string;
  url: string;
  secret: string;
  body: object;
  /** For everything together, in ms. */
  timeoutMs: number;
}

/**
 * Sends a signed request to a customer's app. The signature covers the exact bytes that are sent and is made at the
 * moment of sending.
 * @throws EgressError for everything that is not an answer
 */
export function sendSigned(ctx: Ctx, request: SignedRequest): Promise<EgressResponse> {
  const body = JSON.stringify(request.body);
  return ctx.egress.request({
    method: 'POST',
    url: request.url,
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
      'Idempotency-Key': request.eventId,
      'X-Service-Event': request.event,
      'X-Service-Event-Id': request.eventId,
      'X-Service-Signature': signPayload(request.secret, Math.floor(ctx.clock.now().getTime() / 1000), body),
    },
    body,
    timeoutMs: request.timeoutMs,
    maxResponseBytes: MAX_ANSWER_BYTES,
  });
}
