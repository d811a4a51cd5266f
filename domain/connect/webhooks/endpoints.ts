import { changed, created, deleted, secretChanged } from '../../platform/changes.ts';
import { across } from '../../../db/across.ts';
import { WebhookEndpoints, type WebhookEndpointRow } from '../../../db/models/webhook-endpoint.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, notFound, refuseProblems } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { assertUnchanged } from '../../platform/assert-unchanged.ts';
import { UNVERIFIED_COLUMNS, sameHost } from './managed.ts';
import { checkWebhookUrl } from './policy.ts';
import { issueSecret } from '../delivery/secrets.ts';

export type { WebhookEndpointRow } from '../../../db/models/webhook-endpoint.ts';

/** The complete state of an endpoint as a client sends it, with defaults filled in. */
export interface EndpointInput {
  url: string;
  description: string;
  /** Subscribed event types, all known. Empty means all types except high-volume ones. */
  eventTypes: readonly string[];
  enabled: boolean;
}

/** An endpoint with its plain-text signing secret, which is shown once. */
interface IssuedEndpoint {
  endpoint: WebhookEndpointRow;
  secret: string;
}

/** Lists the workspace's own endpoints, newest first (GET /webhooks), without those of applications. */
export async function listEndpoints(ctx: Ctx): Promise<WebhookEndpointRow[]> {
  return reader(ctx).query(WebhookEndpoints).whereNull('application_id').orderBy('id', 'desc');
}

/**
 * Returns one of the workspace's own endpoints.
 * @throws AppError not_found, also for an application's endpoint
 */
export async function getEndpoint(ctx: Ctx, id: string): Promise<WebhookEndpointRow> {
  return requireEndpoint(reader(ctx), id);
}

/**
 * Refuses a URL to which webhooks cannot be sent. May wait for DNS, so call it before the transaction of {@link
 * createEndpoint} and {@link updateEndpoint}.
 * @throws AppError bad_request
 */
export async function assertTarget(ctx: Ctx, url: string): Promise<void> {
  refuseProblems(await checkWebhookUrl(ctx, url));
}

/**
 * Registers an endpoint with a new secret. The endpoint receives no live events until it is verified (POST /webhooks).
 * @throws AppError conflict (409) when the workspace has ORG_WEBHOOK_ENDPOINTS of them
 */
export async function createEndpoint(ctx: Ctx, input: EndpointInput): Promise<IssuedEndpoint> {
  return transact(ctx, async (tx) => {
    await refuseAtLimit(ctx, tx);
    const endpoint = await tx.org.create(WebhookEndpoints, {
      id: newId(),
      ...columns(input),
      created_at: tx.now,
      updated_at: tx.now,
    });
    const secret = await issueSecret(tx.trx, ctx.keyring, { endpointId: endpoint.id }, tx.now);
    tx.audit({ action: 'create', entityType: 'webhook', entityId: endpoint.id, changes: created(audited(input)) });
    return { endpoint, secret };
  });
}

/**
 * Replaces the state of an endpoint (PATCH /webhooks/:id). A changed host must be verified again. Enabling an endpoint
 * that the installation had disabled resets its failure count.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @throws AppError not_found, conflict if `updated_at` has changed
 */
export async function updateEndpoint(
  ctx: Ctx,
  id: string,
  input: EndpointInput,
  { expectedUpdatedAt }: { expectedUpdatedAt?: Date | undefined } = {},
): Promise<WebhookEndpointRow> {
  return transact(ctx, async (tx) => {
    const before = await lockEndpoint(tx, id);
    assertUnchanged('webhook_endpoint', before.updated_at, expectedUpdatedAt);
    const rearmed = !sameHost(before.url, input.url);
    const revived = input.enabled && !before.enabled;
    await tx.org
      .query(WebhookEndpoints)
      .findById(id)
      .patch({
        ...columns(input),
        disabled_reason: null,
        ...(revived ? { consecutive_failures: 0, failing_since: null } : {}),
        ...(rearmed ? UNVERIFIED_COLUMNS : {}),
        updated_at: tx.now,
      } as object);
    tx.audit({
      action: 'update',
      entityType: 'webhook',
      entityId: id,
      changes: changed(audited(shown(before)), audited(input)),
      ...(rearmed ? { metadata: { verification: 'needed again' } } : {}),
    });
    return requireEndpoint(tx.org, id);
  });
}

/**
 * Deletes an endpoint with its secrets and its delivery history (DELETE /webhooks/:id).
 * @throws AppError not_found
 */
export async function deleteEndpoint(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const endpoint = await lockEndpoint(tx, id);
    await tx.org.query(WebhookEndpoints).deleteById(id);
    tx.audit({
      action: 'delete',
      entityType: 'webhook',
      entityId: id,
      changes: deleted(audited({ url: endpoint.url })),
    });
  });
}

/**
 * Creates a new secret for an endpoint, returned once. Deliveries that were attempted before keep the old secret until
 * they end.
 * @throws AppError not_found
 */
export async function rotateEndpointSecret(ctx: Ctx, id: string): Promise<string> {
  return transact(ctx, async (tx) => {
    await lockEndpoint(tx, id);
    const secret = await issueSecret(tx.trx, ctx.keyring, { endpointId: id }, tx.now);
    await tx.org.query(WebhookEndpoints).findById(id).patch({ updated_at: tx.now });
    tx.audit({ action: 'rotate_secret', entityType: 'webhook', entityId: id, changes: secretChanged('secret') });
    return secret;
  });
}

/** Locks the organization's row, so that two concurrent requests cannot both create the last allowed endpoint. */
async function refuseAtLimit(ctx: Ctx, tx: Tx): Promise<void> {
  const limit = ctx.config.ORG_WEBHOOK_ENDPOINTS;
  if (limit === 0) return;
  await across(tx.trx, 'person')
    .table('organizations')
    .where({ id: tx.org.organizationId })
    .forNoKeyUpdate()
    .select('id');
  const count = await tx.org.query(WebhookEndpoints).whereNull('application_id').resultSize();
  if (count >= limit) {
    throw new AppError('conflict', message('connect.too_many_endpoints', { max: limit }), {
      fix: message('connect.too_many_endpoints.fix'),
    });
  }
}

async function requireEndpoint(org: OrgScope, id: string): Promise<WebhookEndpointRow> {
  const endpoint = isUuid(id) ? await org.query(WebhookEndpoints).findById(id).whereNull('application_id') : undefined;
  if (!endpoint) throw notFound('webhook_endpoint');
  return endpoint;
}

async function lockEndpoint(tx: Tx, id: string): Promise<WebhookEndpointRow> {
  const endpoint = isUuid(id)
    ? await tx.org.query(WebhookEndpoints).findById(id).whereNull('application_id').forNoKeyUpdate()
    : undefined;
  if (!endpoint) throw notFound('webhook_endpoint');
  return endpoint;
}

function columns(input: EndpointInput) {
  return {
    url: input.url,
    description: input.description,
    event_types: [...new Set(input.eventTypes)],
    enabled: input.enabled,
  };
}

/**
 * Returns the fields of an endpoint for the audit log, without the URL's path and query, which often contain a
 * receiver's secret.
 */
function audited({ url, ...rest }: Pick<EndpointInput, 'url'> & Partial<EndpointInput>): Record<string, unknown> {
  return {
    host: new URL(url).host,
    ...(rest.eventTypes ? { event_types: rest.eventTypes, enabled: rest.enabled, description: rest.description } : {}),
  };
}

/** Returns an endpoint in the form of a request body. */
function shown(row: WebhookEndpointRow): EndpointInput {
  return { url: row.url, description: row.description, eventTypes: row.event_types, enabled: row.enabled };
}
