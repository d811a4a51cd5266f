import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { newId } from '../../../lib/ids.ts';
import { signal } from '../../../temporal/dispatch.ts';
import { webhookVerifyWorkflow } from '../../../workflows/webhook-verify/contract.ts';
import type { Tx } from '../../platform/kernel/transact.ts';

/** The settings of an application that its endpoints depend on. */
type Application = Columns<'oauth_applications', 'id' | 'webhook_url'>;

const GRANTED = `exists (
  select 1 from oauth_grants g join memberships m on m.organization_id = g.organization_id and m.user_id = g.user_id
  where g.application_id = :application and g.organization_id = e.organization_id and g.revoked_at is null)`;

/**
 * Syncs an application's endpoints with its settings, in every workspace with an active grant. Missing endpoints are
 * created, and all get the application's `webhook_url`; a changed host must be challenged again. An empty `webhook_url`
 * deletes all endpoints. Endpoints that Heron had disabled are enabled again, and unverified ones are challenged again,
 * because saving the settings confirms that the receiver works. Call it in the transaction that changes the
 * application, after the change.
 */
export async function syncApplicationEndpoints(tx: Tx, applicationId: string): Promise<void> {
  const application = await lockApplication(tx, applicationId);
  if (!application) return;
  if (application.webhook_url === '') {
    await across(tx.trx, 'application').table('webhook_endpoints').where({ application_id: applicationId }).delete();
    return;
  }
  await across(tx.trx, 'application').sql(
    `delete from webhook_endpoints e where e.application_id = :application and not ${GRANTED}`,
    {
      application: applicationId,
    },
  );
  await updateManagedEndpoints(tx, application);
  const granting = await across(tx.trx, 'application').sql<Columns<'oauth_grants', 'organization_id'>>(
    `select distinct g.organization_id from oauth_grants g join memberships m on m.organization_id = g.organization_id and m.user_id = g.user_id
     where g.application_id = :application and g.revoked_at is null`,
    { application: applicationId },
  );
  await createMissing(
    tx,
    application,
    granting.map((row) => row.organization_id),
  );
  await scheduleChallenges(tx, { application_id: applicationId });
}

/**
 * Syncs one workspace's endpoint of an application with its grants. The endpoint must exist while a member grants
 * access and the application has a `webhook_url`. It is deleted with the last grant. Call it in the transaction that
 * creates, changes or revokes a grant, or ends a membership, after the change.
 */
export async function syncGrantEndpoint(tx: Tx, applicationId: string, organizationId: string): Promise<void> {
  const application = await lockApplication(tx, applicationId);
  if (!application) return;
  const owner = { application: applicationId, organization: organizationId };
  const [standing] = await across(tx.trx, 'application').sql<{ granted: boolean }>(
    `select ${GRANTED} as granted from (select cast(:organization as uuid) as organization_id) e`,
    owner,
  );
  if (application.webhook_url === '' || !standing!.granted) {
    await across(tx.trx, 'application')
      .table('webhook_endpoints')
      .where({ application_id: applicationId, organization_id: organizationId })
      .delete();
    return;
  }
  await createMissing(tx, application, [organizationId]);
  await scheduleChallenges(tx, { application_id: applicationId, organization_id: organizationId });
}

/**
 * Locks the application, so that its grants are changed one after the other and the end of the last grant is detected.
 */
async function lockApplication(tx: Tx, id: string): Promise<Application | undefined> {
  return across(tx.trx, 'application')
    .table('oauth_applications')
    .where({ id })
    .forNoKeyUpdate()
    .first('id', 'webhook_url');
}

async function createMissing(tx: Tx, application: Application, organizations: readonly string[]): Promise<void> {
  await across(tx.trx, 'application').sql(
    `insert into webhook_endpoints (id, organization_id, application_id, url, created_at, updated_at)
     select id, organization_id, :application, :url, :now, :now from unnest(cast(:ids as uuid[]), cast(:organizations as uuid[])) as missing (id, organization_id)
     on conflict (application_id, organization_id) where application_id is not null do nothing`,
    {
      application: application.id,
      url: application.webhook_url,
      now: tx.now,
      ids: organizations.map(() => newId()),
      organizations: [...organizations],
    },
  );
}

async function updateManagedEndpoints(tx: Tx, application: Application): Promise<void> {
  const endpoints = () =>
    across(tx.trx, 'application').table('webhook_endpoints').where({ application_id: application.id });
  await endpoints().where({ enabled: false }).update({
    enabled: true,
    disabled_reason: null,
    consecutive_failures: 0,
    failing_since: null,
    updated_at: tx.now,
  });
  const stale = await endpoints().whereNot('url', application.webhook_url).distinct('url');
  for (const { url } of stale) {
    await endpoints()
      .where({ url })
      .update({
        url: application.webhook_url,
        updated_at: tx.now,
        ...(sameHost(url, application.webhook_url) ? {} : UNVERIFIED_COLUMNS),
      });
  }
}

/**
 * Column values for an endpoint whose host has changed. They clear its verification and counts, which do not apply to
 * the new host.
 */
export const UNVERIFIED_COLUMNS = {
  verified_at: null,
  ownership_confirmed: false,
  consecutive_failures: 0,
  failing_since: null,
  last_success_at: null,
  last_failure_at: null,
  last_failure_reason: null,
} as const;

/**
 * Returns true if two URLs have the same host, so that a verification of one is valid for the other. Scheme and port
 * must match too. They can differ only with ALLOW_UNSAFE_WEBHOOK_URLS.
 */
export function sameHost(a: string, b: string): boolean {
  return new URL(a).origin === new URL(b).origin;
}

/** Schedules a new challenge for the unverified endpoints. The attempts are counted from 1 again. */
async function scheduleChallenges(tx: Tx, which: { application_id: string; organization_id?: string }): Promise<void> {
  const endpoints = await across(tx.trx, 'application')
    .table('webhook_endpoints')
    .where(which)
    .whereNull('verified_at')
    .update({ challenging: true })
    .returning(['id', 'organization_id']);
  for (const endpoint of endpoints) {
    tx.intend(
      signal(webhookVerifyWorkflow, { organizationId: endpoint.organization_id, endpointId: endpoint.id }, 'armed', {
        applicationId: which.application_id,
      }),
    );
  }
}
