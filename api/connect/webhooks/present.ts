import type { Ctx } from '../../../domain/platform/kernel/context.ts';
import { runUrl } from '../../../domain/platform/run-url.ts';
import type { z } from 'zod';
import type { ManagedEndpointView } from '../../../domain/connect/webhooks/applications.ts';
import type {
  DeliveryAttempt,
  DeliveryView,
  DeliveryWithPayload,
} from '../../../domain/connect/webhooks/deliveries.ts';
import type { WebhookEndpointRow } from '../../../domain/connect/webhooks/endpoints.ts';
import type { ThrottleDrop } from '../../../domain/connect/webhooks/throttle-drops.ts';
import type { ChallengeResult } from '../../../domain/connect/webhooks/verify.ts';
import { webhookBatchWorkflow } from '../../../workflows/webhook-batch/contract.ts';
import { webhookDeliveryWorkflow } from '../../../workflows/webhook-delivery/contract.ts';
import { webhookEndpointWorkflow } from '../../../workflows/webhook-endpoint/contract.ts';
import { presentBlocked, reasonIn } from '../../http/stored-message.ts';
import { iso } from '../../http/schemas.ts';
import type * as schemas from './schemas.ts';

/** Returns an endpoint of the workspace with its health. Only creation and rotation show its secret. */
export function presentEndpoint(
  row: WebhookEndpointRow,
  { language }: Pick<Ctx, 'language'>,
): z.input<typeof schemas.endpoint> {
  return {
    id: row.id,
    organization_id: row.organization_id,
    url: row.url,
    description: row.description,
    event_types: row.event_types,
    enabled: row.enabled,
    disabled_reason: reasonIn(row.disabled_reason, language),
    verified_at: iso(row.verified_at),
    ownership_confirmed: row.ownership_confirmed,
    last_success_at: iso(row.last_success_at),
    last_failure_at: iso(row.last_failure_at),
    last_failure_reason: reasonIn(row.last_failure_reason, language),
    consecutive_failures: row.consecutive_failures,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Returns the receiver's answer to a challenge, and the endpoint after it. */
export function presentVerification(
  row: WebhookEndpointRow,
  result: ChallengeResult,
  ctx: Pick<Ctx, 'language'>,
): z.input<typeof schemas.verification> {
  return {
    endpoint: presentEndpoint(row, ctx),
    verified: row.verified_at !== null,
    passed: result.passed,
    challenge_echoed: result.echoed,
    status: result.status,
    reason: reasonIn(result.reason, ctx.language),
    latency_ms: result.latencyMs,
  };
}

/** Returns a delivery for the developers of an application, who see all workspaces but no bodies. */
export function presentApplicationDelivery(
  row: DeliveryView,
  { language }: Pick<Ctx, 'language'>,
): z.input<typeof schemas.applicationDelivery> {
  return {
    id: row.id,
    endpoint_id: row.endpoint_id,
    organization_id: row.organization_id,
    event_type: row.event_type,
    event_id: row.event_id,
    status: row.status,
    attempt_count: row.attempt_count,
    max_attempts: row.max_attempts,
    next_attempt_at: iso(row.next_attempt_at),
    last_attempt_at: iso(row.last_attempt_at),
    response_status: row.response_status,
    response_body_excerpt: row.response_body_excerpt,
    error_reason: reasonIn(row.error_reason, language),
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/**
 * Returns a delivery for its workspace, with its body. If the delivery has its own Temporal workflow, the answer links
 * to it.
 */
export function presentDelivery(
  row: DeliveryWithPayload,
  { config, language }: Pick<Ctx, 'config' | 'language'>,
): z.input<typeof schemas.delivery> {
  // A delivery whose first attempt succeeded or is still due belongs to a batch and has no workflow of its own.
  const hasRun = row.attempt_count > 1 || row.status === 'failed' || row.blocked_reason !== null;
  return {
    ...presentApplicationDelivery(row, { language }),
    payload: row.payload,
    ...presentBlocked(row, language),
    ...(hasRun ? runUrl(config, webhookDeliveryWorkflow, { deliveryId: row.id }) : {}),
  };
}

/**
 * Returns one attempt of a delivery with the link to the Temporal workflow that made it. The workflow belongs to a
 * shared batch, to the endpoint's batch or to the delivery.
 */
export function presentAttempt(
  { batch_id: batchId, endpoint_id: endpointId, started_at: startedAt, ...attempt }: DeliveryAttempt,
  deliveryId: string,
  { config, language }: Pick<Ctx, 'config' | 'language'>,
): z.input<typeof schemas.attempts>['data'][number] {
  return {
    ...attempt,
    error_reason: reasonIn(attempt.error_reason, language),
    started_at: iso(startedAt),
    ...urlOfAttempt(),
  };

  function urlOfAttempt(): { temporal_url?: string } {
    if (batchId === null) return runUrl(config, webhookDeliveryWorkflow, { deliveryId });
    if (batchId === endpointId) return runUrl(config, webhookEndpointWorkflow, { endpointId });
    return runUrl(config, webhookBatchWorkflow, { batchId });
  }
}

/** Returns the number of events of one type that were dropped for an endpoint in one minute, with the reason. */
export function presentDrop({
  endpoint_id,
  event_type,
  reason,
  dropped,
  minute,
  last_event_id,
}: ThrottleDrop): z.input<typeof schemas.throttleDrop> {
  return { endpoint_id, event_type, reason, dropped, minute: iso(minute), last_event_id };
}

/** Returns an application's endpoint in one workspace, for the application's developers. */
export function presentManagedEndpoint(row: ManagedEndpointView): z.input<typeof schemas.managedEndpoint> {
  return {
    id: row.id,
    organization_id: row.organization_id,
    url: row.url,
    enabled: row.enabled,
    verified_at: iso(row.verified_at),
    consecutive_failures: row.consecutive_failures,
    last_success_at: iso(row.last_success_at),
    last_failure_at: iso(row.last_failure_at),
  };
}
