import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import type { Ctx, Deps } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { revokeMade } from '../api-keys/lineage.ts';
import { syncGrantEndpoint } from '../../connect/webhooks/managed.ts';
import { scopesOf } from '../scopes.ts';
import { message } from '../../../messages/index.ts';

/** Maximum number of applications shown to a person. The newest are shown. */
const LISTED = 500;

/**
 * An application with access to one workspace. Either the person granted the access, or another member did so in a
 * workspace that the person owns.
 */
export interface AuthorizedApp {
  grant_id: string;
  organization_id: string;
  organization_name: string;
  client_id: string;
  name: string;
  description: string;
  logo_url: string;
  website_url: string;
  self_registered: boolean;
  /** Number of people whose grants the person may revoke. */
  people: number;
  /** True if the person owns the workspace. In that case revoking ends the access of all members there. */
  for_all: boolean;
  /** Mask of all scopes that the application's tokens can have. */
  scopes: number;
  created_at: Date;
  updated_at: Date;
  /** Time of the last use, accurate to about a minute. */
  last_used_at: Date | null;
}

/** Locks a membership of the transaction's workspace until the transaction ends. */
export async function lockMembership(tx: Tx, userId: string): Promise<void> {
  await tx.org.sql('select user_id from memberships where organization_id = :org and user_id = :userId for key share', {
    userId,
  });
}

/**
 * Grants an application access for a person, in the transaction's workspace, or changes an existing grant.
 * @returns the grant's id
 * @throws AppError not_found when the application was just deleted
 */
export async function upsertGrant(
  tx: Tx,
  grant: { applicationId: string; userId: string; scopes: number },
): Promise<string> {
  await lockApplication(tx, grant.applicationId);
  const [row] = await tx.org.sql<{ id: string; created: boolean }>(
    `insert into oauth_grants as g (id, organization_id, application_id, user_id, scopes, created_at, updated_at)
     values (:id, :org, :application, :user, :scopes, :now, :now)
     on conflict (application_id, organization_id, user_id) where revoked_at is null
       do update set scopes = excluded.scopes, updated_at = excluded.updated_at
     returning g.id, (xmax = 0) as created`,
    { id: newId(), application: grant.applicationId, user: grant.userId, scopes: grant.scopes, now: tx.now },
  );
  tx.audit({
    action: row!.created ? 'create' : 'update',
    entityType: 'oauth_grant',
    entityId: row!.id,
    metadata: { application_id: grant.applicationId, scopes: scopesOf(grant.scopes) },
  });
  await syncGrantEndpoint(tx, grant.applicationId, tx.org.organizationId);
  return row!.id;
}

/**
 * Lists applications with access that the person granted, and those that anybody granted in workspaces that the person
 * owns, newest first. `grant_id` is the person's own grant if there is one.
 */
export async function listAuthorizedApps({ db }: Pick<Deps, 'db'>, userId: string): Promise<AuthorizedApp[]> {
  return across(db, 'person').sql<AuthorizedApp>(
    `select (array_agg(g.id order by g.user_id = m.user_id desc, g.id desc))[1] as grant_id, g.organization_id, o.name as organization_name,
       a.client_id, a.name, a.description, a.logo_url, a.website_url, a.self_registered, count(*)::int as people, bool_or(r.is_owner) as for_all,
       bit_or(g.scopes) & a.scopes as scopes, min(g.created_at) as created_at, max(g.updated_at) as updated_at, max(g.last_used_at) as last_used_at
     from memberships m
     join roles r on r.id = m.role_id
     join oauth_grants g on g.organization_id = m.organization_id and g.revoked_at is null and (g.user_id = m.user_id or r.is_owner)
     join oauth_applications a on a.id = g.application_id
     join organizations o on o.id = g.organization_id
     where m.user_id = :userId
     group by a.id, g.organization_id, o.id
     order by max(g.id::text) desc limit ${LISTED}`,
    { userId },
  );
}

/**
 * Revokes a person's grant. An owner of the workspace revokes all grants for the application there. All tokens of these
 * grants are invalid within a second, in every process.
 * @throws AppError not_found, also for a revoked grant, and for another person's grant in a workspace that the person
 * does not own
 */
export async function revokeGrant(ctx: Ctx, grantId: string): Promise<void> {
  if (ctx.actor.kind !== 'session' || !ctx.actor.userId) throw new AppError('forbidden', message('oauth.people_only'));
  const [grant] = isUuid(grantId) ? await findRevocable(ctx, grantId, ctx.actor.userId) : [];
  if (!grant) throw notFound('authorized_app');
  // Acts in the grant's workspace, because the person may have selected another one.
  const inWorkspace: Ctx = { ...ctx, actor: { ...ctx.actor, organizationId: grant.organization_id } };
  await transact(inWorkspace, async (tx) => {
    const applicationId = grant.application_id;
    if (!grant.is_owner) {
      if (!(await endGrant(tx, { id: grantId, applicationId }, 'person'))) throw notFound('authorized_app');
      return;
    }
    await lockApplication(tx, applicationId);
    const all = await tx.org
      .table('oauth_grants')
      .where({ application_id: applicationId })
      .whereNull('revoked_at')
      .orderBy('id')
      .select('id');
    if (all.length === 0) throw notFound('authorized_app');
    for (const { id } of all) await endGrant(tx, { id, applicationId }, 'owner');
  });
}

/** Returns the grant to revoke, if the person granted it or owns its workspace. */
function findRevocable({ db }: Pick<Deps, 'db'>, grantId: string, userId: string) {
  return across(db, 'person').sql<
    Columns<'oauth_grants', 'organization_id' | 'application_id'> & { is_owner: boolean }
  >(
    `select g.organization_id, g.application_id, coalesce(r.is_owner, false) as is_owner
     from oauth_grants g
     left join memberships m on m.organization_id = g.organization_id and m.user_id = :userId
     left join roles r on r.id = m.role_id
     where g.id = :grantId and g.revoked_at is null and (g.user_id = :userId or r.is_owner)`,
    { grantId, userId },
  );
}

/**
 * Ends a grant of the transaction's workspace, and revokes the API keys created with its tokens. The tokens themselves
 * become invalid too, because a token is valid only while its grant is active.
 * @param by cause: the person, an owner of the workspace, the application itself, or the end of the membership
 * @returns true if the grant was active
 */
export async function endGrant(
  tx: Tx,
  grant: { id: string; applicationId: string },
  by: 'person' | 'owner' | 'application' | 'membership',
): Promise<boolean> {
  await lockApplication(tx, grant.applicationId);
  const ended = await tx.org
    .table('oauth_grants')
    .where({ id: grant.id })
    .whereNull('revoked_at')
    .update({ revoked_at: tx.now, updated_at: tx.now });
  if (ended === 0) return false;
  const revokedKeys = await revokeMade(tx, { grant: grant.id }, message('revoked.with_application'));
  tx.audit({
    action: 'revoke',
    entityType: 'oauth_grant',
    entityId: grant.id,
    metadata: { application_id: grant.applicationId, by, revoked_keys: revokedKeys },
  });
  await syncGrantEndpoint(tx, grant.applicationId, tx.org.organizationId);
  return true;
}

/** Ends the grants of a person who leaves the transaction's workspace. Rejoining does not restore them. */
export async function endGrantsOfMember(tx: Tx, userId: string): Promise<void> {
  const grants = await tx.org
    .table('oauth_grants')
    .where({ user_id: userId })
    .whereNull('revoked_at')
    .orderBy('application_id')
    .select('id', 'application_id');
  for (const { id, application_id } of grants) await endGrant(tx, { id, applicationId: application_id }, 'membership');
}

/**
 * Locks an application, so that concurrent changes of its grants, and changes of the application itself, wait for each
 * other. It must be the first lock of a transaction, as in changes of the application's endpoints.
 * @throws AppError not_found when the application was deleted
 */
async function lockApplication(tx: Tx, applicationId: string): Promise<void> {
  const row = await across(tx.trx, 'person')
    .table('oauth_applications')
    .where({ id: applicationId })
    .forNoKeyUpdate()
    .first('id');
  if (!row) throw notFound('application');
}
