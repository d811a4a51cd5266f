import { EgressError, hostMatchesDomains } from '../../../lib/egress/index.ts';
import { message, type Message } from '../../../messages/index.ts';
import { answerFault } from './answer-fault.ts';
import { deliveryRequest, EXCERPT_BYTES } from './request.ts';
import type { Claimed } from './claim.ts';
import type { DeliveryEngine } from './engine.ts';
import type { Outcome, Result } from './result.ts';
import { nextAttemptAt } from './schedule.ts';

/**
 * Maximum number of bytes of a response that are read. This is more than is stored, because a connection can be reused
 * only after its whole response was read.
 */
const MAX_ANSWER_BYTES = 16 * 1024;

/**
 * Signs and sends one claimed delivery, and returns the result. Before sending, it checks again that the endpoint is
 * enabled and verified, and that its application may use the host.
 */
export async function attempt(
  { deps, openSecret }: Pick<DeliveryEngine, 'deps' | 'openSecret'>,
  delivery: Claimed,
): Promise<Result> {
  const { clock, config } = deps;
  const startedAt = clock.now();
  const began = performance.now();
  const refusal = refusalOf(delivery);
  if (refusal !== undefined) return resultOf(delivery, 'refused', startedAt, { errorReason: refusal });
  let answer: Pick<Result, 'responseStatus' | 'excerpt' | 'errorReason'>;
  try {
    const response = await deps.egress.request(
      deliveryRequest({
        url: delivery.url,
        secret: openSecret(delivery.secret!),
        eventType: delivery.eventType,
        eventId: delivery.eventId,
        body: delivery.body!,
        now: startedAt,
        timeoutMs: config.WEBHOOK_TIMEOUT_MS,
        maxResponseBytes: MAX_ANSWER_BYTES,
      }),
    );
    answer = {
      responseStatus: response.status,
      excerpt: excerptOf(response.body),
      errorReason: failureOf(response.status),
    };
  } catch (error) {
    // A fault of one delivery must not affect the others of its batch.
    if (!(error instanceof EgressError))
      deps.log.error({ err: error, deliveryId: delivery.id }, 'a webhook delivery could not be made');
    answer = {
      responseStatus: null,
      excerpt: null,
      errorReason: error instanceof EgressError ? error.said : message('connect.delivery_failed'),
    };
  }
  const finishedAt = clock.now();
  const rest = { ...answer, finishedAt, durationMs: Math.round(performance.now() - began) };
  if (answer.errorReason === null) return resultOf(delivery, 'delivered', startedAt, rest);
  const next = nextAttemptAt(
    config,
    { attempt: delivery.attempt, earlier: delivery.earlierAttempts, max: delivery.maxAttempts },
    finishedAt,
  );
  return resultOf(delivery, next ? 'failed' : 'abandoned', startedAt, { ...rest, nextAttemptAt: next });
}

/** Returns the result of a delivery that was not sent. The delivery moves to the batch of its endpoint. */
export function releasedResult(delivery: Claimed, now: Date): Result {
  return resultOf(delivery, 'released', now, {});
}

function resultOf(delivery: Claimed, outcome: Outcome, startedAt: Date, rest: Partial<Result>): Result {
  return {
    delivery,
    outcome,
    startedAt,
    finishedAt: startedAt,
    durationMs: 0,
    nextAttemptAt: null,
    responseStatus: null,
    excerpt: null,
    errorReason: null,
    ...rest,
  };
}

/** Returns the reason why a delivery must no longer be sent; undefined if it may be sent. */
function refusalOf(delivery: Claimed): Message | undefined {
  const { enabled, verified, allowedDomains, url, body, secret, attempt: number, maxAttempts } = delivery;
  if (!enabled) return message('connect.endpoint_off');
  if (!verified) return message('connect.endpoint_unverified');
  if (allowedDomains && !hostMatchesDomains(new URL(url).hostname.replace(/^\[|\]$/g, ''), allowedDomains))
    return message('connect.host_not_allowed');
  if (body === null) return message('connect.payload_gone');
  if (secret === null) return message('connect.endpoint_no_secret');
  return number > maxAttempts ? message('connect.attempts_used') : undefined;
}

function failureOf(status: number): Message | null {
  return status >= 200 && status <= 299 ? null : answerFault(status);
}

/**
 * Decodes the first bytes of an answer as text that PostgreSQL can store. Drops a character cut off at the end, and
 * replaces NUL by U+FFFD.
 */
function excerptOf(body: Buffer): string {
  const decoder = new TextDecoder('utf-8');
  // With `stream`, the decoder does not return an incomplete character at the end.
  return decoder.decode(body.subarray(0, EXCERPT_BYTES), { stream: body.length > EXCERPT_BYTES }).replaceAll('\0', '�');
}
