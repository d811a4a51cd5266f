import { secretChanged } from '../../platform/changes.ts';
import { across } from '../../../db/across.ts';
import type { TableQuery } from '../../../db/table-query.ts';
import { OAuthApplications } from '../../../db/models/oauth-application.ts';
import type { Page, PageRequest } from '../../../lib/cursor.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { pageOfDeliveries, type DeliveryFilter, type DeliveryView } from './deliveries.ts';
import { ensureSecret, issueSecret, newestSecret, openWebhookSecret } from '../delivery/secrets.ts';

/** The endpoint of an application in one workspace. */
export interface ManagedEndpointView {
  id: string;
  organization_id: string;
  url: string;
  enabled: boolean;
  verified_at: Date | null;
  consecutive_failures: number;
  last_success_at: Date | null;
  last_failure_at: Date | null;
}

/**
 * Returns the plain-text secret that signs the deliveries of all endpoints of an application. Creates it on the first
 * call.
 * @throws AppError not_found
 */
export async function applicationSecret(ctx: Ctx, id: string): Promise<string> {
  await assertOwn(ctx, id);
  const stored = await newestSecret(ctx.db, { applicationId: id });
  if (stored) return openWebhookSecret(ctx.keyring, stored);
  return transact(ctx, async (tx) => {
    await lock(tx, id);
    return ensureSecret(tx.trx, ctx.keyring, { applicationId: id }, tx.now);
  });
}

/**
 * Creates a new secret for all endpoints of an application. Deliveries that were attempted before keep the old secret
 * until they end.
 * @throws AppError not_found
 */
export async function rotateApplicationSecret(ctx: Ctx, id: string): Promise<string> {
  return transact(ctx, async (tx) => {
    await lock(tx, id);
    const secret = await issueSecret(tx.trx, ctx.keyring, { applicationId: id }, tx.now);
    tx.audit({
      action: 'rotate_webhook_secret',
      entityType: 'oauth_application',
      entityId: id,
      changes: secretChanged('webhook_secret'),
    });
    return secret;
  });
}

/**
 * Lists the application's endpoints in all workspaces that granted it access, newest first. The endpoints belong to
 * other workspaces, so only fields of the application are shown.
 * @throws AppError not_found
 */
export async function listApplicationEndpoints(ctx: Ctx, id: string): Promise<ManagedEndpointView[]> {
  await assertOwn(ctx, id);
  return across(ctx.db, 'application')
    .table('webhook_endpoints')
    .where({ application_id: id })
    .orderBy('id', 'desc')
    .select(
      'id',
      'organization_id',
      'url',
      'enabled',
      'verified_at',
      'consecutive_failures',
      'last_success_at',
      'last_failure_at',
    );
}

/**
 * Lists deliveries to the application's endpoints over all workspaces, newest first. Bodies are not shown, because they
 * are records of other workspaces.
 * @throws AppError not_found, bad_request for a cursor of another list or filter
 */
export async function listApplicationDeliveries(
  ctx: Ctx,
  id: string,
  filter: DeliveryFilter,
  page: PageRequest,
): Promise<Page<DeliveryView>> {
  await assertOwn(ctx, id);
  return pageOfDeliveries(
    across(ctx.db, 'application').table('webhook_deliveries').where({ application_id: id }) as unknown as TableQuery<
      'webhook_deliveries',
      unknown
    >,
    'oauth.webhook-deliveries',
    id,
    filter,
    page,
  );
}

async function assertOwn(ctx: Ctx, id: string): Promise<void> {
  const application = isUuid(id) ? await reader(ctx).query(OAuthApplications).findById(id).select('id') : undefined;
  if (!application) throw notFound('application');
}

async function lock(tx: Tx, id: string): Promise<void> {
  const application = isUuid(id)
    ? await tx.org.query(OAuthApplications).findById(id).forNoKeyUpdate().select('id')
    : undefined;
  if (!application) throw notFound('application');
}
