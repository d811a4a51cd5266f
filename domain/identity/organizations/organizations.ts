import { created } from '../../platform/changes.ts';
import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import type { Bindings } from '../../../db/statement.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { Trx } from '../../../db/connection.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import { SYSTEM_ROLES } from '../../../lib/permissions.ts';
import { actingAs } from '../sessions.ts';
import { throttle } from '../throttle.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { message } from '../../../messages/index.ts';

export type OrganizationRow = Columns<
  'organizations',
  | 'id'
  | 'name'
  | 'plan'
  | 'weekly_report'
  | 'timezone'
  | 'is_test'
  | 'deletion_scheduled_at'
  | 'deletion_scheduled_for'
  | 'language'
  | 'logo_blob_id'
  | 'member_email_domains'
  | 'session_max_hours'
  | 'created_at'
  | 'updated_at'
>;

/** An organization as seen by one of its members. */
export type MyOrganization = OrganizationRow &
  Columns<'roles', 'permissions' | 'is_owner'> & {
    role_id: string;
    role_name: string;
    /** True if the caller's session is older than the organization allows, so that the person has to sign in again. */
    needs_sign_in: boolean;
  };

/** Returns the caller's organizations that fulfil the condition `and`. */
function ownOrganizations(ctx: Ctx, and: string, bindings: Bindings = {}): Promise<MyOrganization[]> {
  return across(ctx.trx ?? ctx.db, 'person').sql<MyOrganization>(
    `select o.id, o.name, o.plan, o.weekly_report, o.timezone, o.is_test, o.deletion_scheduled_at, o.deletion_scheduled_for,
       o.language, o.logo_blob_id, o.member_email_domains, o.session_max_hours,
       o.created_at, o.updated_at, r.id as role_id, r.name as role_name, r.permissions, r.is_owner,
       coalesce((select s.created_at + make_interval(hours => o.session_max_hours) <= :now from sessions s where s.id = :session), false) as needs_sign_in
     from organizations o
     join memberships m on m.organization_id = o.id
     join roles r on r.id = m.role_id
     where m.user_id = :user ${and} order by o.id`,
    { user: ctx.actor.userId, session: ctx.actor.sessionId ?? null, now: ctx.clock.now(), ...bindings },
  );
}

/** Lists the organizations of the caller, oldest first. */
export async function listMyOrganizations(ctx: Ctx): Promise<MyOrganization[]> {
  return ownOrganizations(ctx, '');
}

/**
 * Returns one organization of the caller.
 * @throws AppError not_found, also for a malformed id and an organization the caller does not belong to
 */
export async function readMyOrganization(ctx: Ctx, id: string): Promise<MyOrganization> {
  const [row] = isUuid(id) ? await ownOrganizations(ctx, 'and o.id = :id', { id }) : [];
  if (!row) throw notFound('organization');
  return row;
}

/** Fields of a new organization. `is_test` makes it a test workspace, whose emails are never sent to anybody. */
interface NewOrganization {
  name: string;
  is_test?: boolean | undefined;
}

/** Creates an organization with its system roles and its founder as owner, inside an open transaction. */
export async function insertOrganization(
  ctx: Ctx,
  trx: Trx,
  founderId: string,
  { name, is_test = false }: NewOrganization,
): Promise<OrganizationRow> {
  const now = ctx.clock.now();
  const id = newId();
  const [organization] = await across(trx, 'person')
    .insert('organizations', { id, name, is_test, created_by: founderId, created_at: now, updated_at: now })
    .returning('*');
  await transact(actingAs(ctx, trx, founderId, id), async (tx) => {
    const roles = SYSTEM_ROLES.map((role) => ({
      id: newId(),
      name: role.name,
      permissions: [...role.permissions],
      is_owner: role.isOwner,
      is_system: true,
      created_at: now,
      updated_at: now,
    }));
    await tx.org.insert('roles', roles);
    await tx.org.insert('memberships', {
      user_id: founderId,
      role_id: roles.find((role) => role.is_owner)!.id,
      created_at: now,
    });
    tx.audit({ action: 'create', entityType: 'organization', entityId: id, changes: created({ name, is_test }) });
  });
  return organization!;
}

/**
 * Creates an organization for the caller. The person's session selects it if no other is selected.
 * @throws AppError rate_limit_exceeded; conflict while the deletion of the caller's account is scheduled
 */
export async function createOrganization(ctx: Ctx, input: NewOrganization): Promise<MyOrganization> {
  await throttle(ctx, 'organizations', ctx.actor.userId!);
  return inTransaction(ctx.db, async (trx) => {
    const [founder] = await across(trx, 'person').sql<Columns<'users', 'deletion_scheduled_for'>>(
      'select deletion_scheduled_for from users where id = :user for share',
      { user: ctx.actor.userId },
    );
    if (founder?.deletion_scheduled_for)
      throw new AppError('conflict', message('deletion.own_account'), { fix: message('deletion.own_account.fix') });
    const { id } = await insertOrganization(ctx, trx, ctx.actor.userId!, input);
    await across(trx, 'person')
      .table('sessions')
      .where('id', ctx.actor.sessionId!)
      .whereNull('organization_id')
      .update({ organization_id: id });
    return readMyOrganization({ ...ctx, trx }, id);
  });
}

/**
 * Selects the organization in which the caller's session works.
 * @throws AppError not_found when the caller is not a member
 */
export async function selectOrganization(ctx: Ctx, id: string): Promise<MyOrganization> {
  const organization = await readMyOrganization(ctx, id);
  await across(ctx.db, 'person').table('sessions').where('id', ctx.actor.sessionId!).update({ organization_id: id });
  return organization;
}
