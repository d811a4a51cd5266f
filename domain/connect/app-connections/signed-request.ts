import type { EgressResponse } from '../../../lib/egress/index.ts';
import { signPayload } from '../../../lib/signature.ts';
import type { Ctx } from '../../platform/kernel/context.ts';

/** Maximum number of bytes of an app's answer that are read. */
export const MAX_ANSWER_BYTES = 64 * 1024;

interface SignedRequest {
  event: 'app.ping' | 'app.action' | 'automation.action';
  /** Id of the event, equal on every retry, so that the app can deduplicate. */
  eventId: string;
  url: string;
  secret: string;
  body: object;
  /** Timeout of the whole request, in ms. */
  timeoutMs: number;
}

/**
 * Sends a signed request to a customer's app. The signature covers the exact bytes sent and is made at the time of
 * sending.
 * @throws EgressError when there is no answer
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
