import { across } from '../../../db/across.ts';
import { json } from '../../../db/connection.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { WebhookEndpoints, type WebhookEndpointRow } from '../../../db/models/webhook-endpoint.ts';
import { newSecret, safeEqual, SECRET_PREFIX } from '../../../lib/crypto.ts';
import { checkOutboundUrl, EgressError, type EgressResponse } from '../../../lib/egress/index.ts';
import { newId } from '../../../lib/ids.ts';
import { message, type Message } from '../../../messages/index.ts';
import type { ChallengeStep } from '../../../workflows/webhook-verify/contract.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { TEST_EVENT } from '../../platform/kernel/events.ts';
import { singleStatement, reader, transact } from '../../platform/kernel/transact.ts';
import { nextAttemptAt } from '../delivery/schedule.ts';
import { getEndpoint } from './endpoints.ts';
import { answerFault } from '../delivery/answer-fault.ts';
import { deliveryRequest, type Envelope } from '../delivery/request.ts';
import { ensureSecret, newestSecret, openWebhookSecret, secretOwner } from '../delivery/secrets.ts';
import { render } from '../../../messages/render.ts';

/** Maximum number of bytes read of an answer to a challenge. An echo is short. */
const MAX_ECHO_BYTES = 16 * 1024;

/** Result of one verification challenge to a webhook endpoint. */
export interface ChallengeResult {
  /** The challenged URL. If the endpoint's URL has changed since, the result does not apply. */
  url: string;
  /** True if the receiver answered as required. An application's endpoint must echo the challenge. */
  passed: boolean;
  /** True if the receiver echoed the challenge, which proves the consent of its owner. */
  echoed: boolean;
  /** HTTP status. It is 0 if there was no response. */
  status: number;
  /** Reason of the failure; null if the challenge passed. */
  reason: Message | null;
  latencyMs: number;
}

/**
 * Sends one signed challenge to one of the workspace's own endpoints. Stores no result: call {@link recordChallenge}
 * afterwards. Call outside of a transaction: the challenge waits on the network for up to 15 s.
 * @throws AppError not_found
 */
export async function challengeEndpoint(ctx: Ctx, id: string): Promise<ChallengeResult> {
  const endpoint = await getEndpoint(ctx, id);
  const secret = await newestSecret(ctx.db, secretOwner(endpoint));
  if (!secret) throw new Error(`webhook endpoint ${id} has no secret`);
  return challenge(ctx, endpoint, openWebhookSecret(ctx.keyring, secret));
}

/**
 * Stores the result of a challenge sent to one of the workspace's own endpoints. A verified endpoint stays verified
 * when a later test fails. The failure counts of live deliveries do not change.
 * @throws AppError not_found
 */
export async function recordChallenge(ctx: Ctx, id: string, result: ChallengeResult): Promise<WebhookEndpointRow> {
  await getEndpoint(ctx, id);
  await record(ctx, id, result);
  return getEndpoint(ctx, id);
}

/**
 * Challenges an application's endpoint in the context's workspace and stores the result. The endpoint must echo the
 * challenge.
 * @param attempt number of this challenge since verification was requested, from 1
 */
export async function challengeManagedEndpoint(ctx: Ctx, id: string, attempt: number): Promise<ChallengeStep> {
  const endpoint = await reader(ctx).query(WebhookEndpoints).findById(id).whereNotNull('application_id');
  if (!endpoint) return { over: true, state: 'gone' };
  if (endpoint.verified_at) return { over: true, state: 'verified' };
  const result = await challengeForApplication(ctx, endpoint);
  if (!result) return { over: true, state: 'gone' };
  await record(ctx, id, result);
  if (result.passed) return { over: true, state: 'verified' };
  const now = ctx.clock.now();
  const next = nextAttemptAt(ctx.config, { attempt, earlier: 0, max: ctx.config.WEBHOOK_MAX_ATTEMPTS }, now);
  if (next) return { over: false, retryInMs: next.getTime() - now.getTime() };
  await singleStatement(ctx).table('webhook_endpoints').where({ id }).update({ challenging: false });
  return { over: true, state: 'given_up' };
}

async function challengeForApplication(ctx: Ctx, endpoint: WebhookEndpointRow): Promise<ChallengeResult | undefined> {
  const known = await inTransaction(ctx.db, async (trx) => {
    const application = (await across(trx, 'application')
      .table('oauth_applications')
      .where({ id: endpoint.application_id! })
      .forNoKeyUpdate()
      .first('allowed_webhook_domains')) as { allowed_webhook_domains: string[] } | undefined;
    return (
      application && {
        ...application,
        secret: await ensureSecret(trx, ctx.keyring, secretOwner(endpoint), ctx.clock.now()),
      }
    );
  });
  if (!known) return undefined;
  const check = checkOutboundUrl(endpoint.url, {
    allowUnsafe: ctx.config.ALLOW_UNSAFE_WEBHOOK_URLS,
    allowedDomains: known.allowed_webhook_domains,
  });
  if (!check.ok)
    return {
      url: endpoint.url,
      passed: false,
      echoed: false,
      status: 0,
      reason: message('connect.url_blocked', { problem: check.problem }),
      latencyMs: 0,
    };
  return challenge(ctx, endpoint, known.secret);
}

async function challenge(ctx: Ctx, endpoint: WebhookEndpointRow, secret: string): Promise<ChallengeResult> {
  const started = performance.now();
  const token = newSecret(SECRET_PREFIX.challenge);
  const said = message(endpoint.application_id ? 'connect.challenge_echo' : 'connect.challenge');
  const now = ctx.clock.now();
  const body: Envelope = {
    id: newId(),
    event_type: TEST_EVENT,
    organization_id: endpoint.organization_id,
    created_at: now.toISOString(),
    data: {
      challenge: token,
      endpoint_id: endpoint.id,
      message: render(said),
      message_code: said.code,
    },
  };
  const outcome = { url: endpoint.url, latencyMs: 0 };
  try {
    const response = await ctx.egress.request(
      deliveryRequest({
        url: endpoint.url,
        secret,
        eventType: TEST_EVENT,
        eventId: body.id,
        body: JSON.stringify(body),
        now,
        timeoutMs: ctx.config.WEBHOOK_TIMEOUT_MS,
        maxResponseBytes: MAX_ECHO_BYTES,
      }),
    );
    outcome.latencyMs = Math.round(performance.now() - started);
    const accepted = response.status >= 200 && response.status < 300;
    const echoed = accepted && echoes(response, token);
    const passed = endpoint.application_id ? echoed : accepted;
    return {
      ...outcome,
      passed,
      echoed,
      status: response.status,
      reason: passed ? null : refusal(response.status, accepted),
    };
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return {
      ...outcome,
      latencyMs: Math.round(performance.now() - started),
      passed: false,
      echoed: false,
      status: 0,
      reason: error.said,
    };
  }
}

function refusal(status: number, accepted: boolean): Message {
  return accepted ? message('connect.no_echo') : answerFault(status);
}

/** Returns true if a response echoes the challenge, in its JSON body or in the header `X-Service-Webhook-Challenge`. */
function echoes({ headers, body }: EgressResponse, token: string): boolean {
  const said = [headers['x-service-webhook-challenge'], challengeIn(body)].flat();
  return said.some((candidate) => typeof candidate === 'string' && safeEqual(candidate.trim(), token));
}

function challengeIn(body: Buffer): unknown {
  try {
    return (JSON.parse(body.toString('utf8')) as { challenge?: unknown } | null)?.challenge;
  } catch {
    return undefined;
  }
}

/** Stores the result if the endpoint still has the challenged URL. An endpoint with a new URL stays unchanged. */
async function record(ctx: Ctx, id: string, { url, passed, echoed, reason }: ChallengeResult): Promise<void> {
  await transact(ctx, async (tx) => {
    const endpoint = await tx.org.query(WebhookEndpoints).findById(id).where({ url }).forNoKeyUpdate();
    if (!endpoint) return;
    await tx.org
      .query(WebhookEndpoints)
      .findById(id)
      .patch({
        ...(passed
          ? { verified_at: endpoint.verified_at ?? tx.now, last_success_at: tx.now }
          : { last_failure_at: tx.now, last_failure_reason: json(reason) }),
        ...(echoed ? { ownership_confirmed: true } : {}),
        updated_at: tx.now,
      } as object);
    if (passed && !endpoint.verified_at)
      tx.audit({ action: 'verify', entityType: 'webhook', entityId: id, metadata: { ownership_confirmed: echoed } });
  });
}
