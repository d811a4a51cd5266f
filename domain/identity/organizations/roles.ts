import { changed, created } from '../../platform/changes.ts';
import { Roles, type RoleRow } from '../../../db/models/role.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid, newId } from '../../../lib/ids.ts';
import type { OrgPermission } from '../../../lib/permissions.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { assertBelowLimit } from '../../platform/full-list.ts';
import { assertMayGrant, assertMayManage, lockOrganization } from './grants.ts';
import { message } from '../../../messages/index.ts';

export type { RoleRow } from '../../../db/models/role.ts';

/** Maximum number of roles, because the list of roles is not paginated. */
const MAX_ROLES = 100;

/** Lists the roles of the organization, system roles first, in order of creation. */
export async function listRoles(ctx: Ctx): Promise<RoleRow[]> {
  return reader(ctx).query(Roles).orderBy('is_system', 'desc').orderBy('id');
}

/**
 * Creates a role.
 * @throws AppError forbidden (permissions that the caller lacks), conflict (name taken), bad_request when the maximum
 * number of roles is reached
 */
export async function createRole(ctx: Ctx, input: { name: string; permissions: OrgPermission[] }): Promise<RoleRow> {
  return transact(ctx, async (tx) => {
    await assertMayGrant(tx, input);
    await assertBelowLimit(tx, 'roles', { most: MAX_ROLES, what: message('role.many') });
    const role = await tx.org.create(Roles, { id: newId(), ...input, created_at: tx.now, updated_at: tx.now });
    tx.audit({
      action: 'create',
      entityType: 'role',
      entityId: role.id,
      changes: created({ name: role.name, permissions: role.permissions }),
    });
    tx.emit('role.created', { role_id: role.id, name: role.name, permissions: role.permissions });
    return role;
  });
}

async function findOwnRole(tx: Tx, id: string): Promise<RoleRow> {
  const role = isUuid(id) ? await tx.org.query(Roles).findById(id) : undefined;
  if (!role) throw notFound('role');
  if (role.is_system) throw new AppError('conflict', message('role.system'), { fix: message('role.system.fix') });
  return role;
}

/**
 * Changes a custom role. Absent fields stay unchanged. Applies to its members from their next request.
 * @throws AppError not_found; conflict (system role, name taken); forbidden (the role has, or would get, permissions
 * that the caller lacks)
 */
export async function updateRole(
  ctx: Ctx,
  id: string,
  changes: { name?: string | undefined; permissions?: OrgPermission[] | undefined },
): Promise<RoleRow> {
  return transact(ctx, async (tx) => {
    await lockOrganization(tx);
    const role = await findOwnRole(tx, id);
    await assertMayManage(tx, role, 'role');
    if (changes.permissions) await assertMayGrant(tx, { permissions: changes.permissions });
    const set = {
      ...(changes.name === undefined ? {} : { name: changes.name }),
      ...(changes.permissions === undefined ? {} : { permissions: changes.permissions }),
    };
    if (Object.keys(set).length === 0) return role;
    await tx.org
      .query(Roles)
      .findById(id)
      .patch({ ...set, updated_at: tx.now });
    tx.audit({ action: 'update', entityType: 'role', entityId: id, changes: changed(role, set) });
    tx.emit('role.updated', { role_id: id, name: role.name, permissions: role.permissions, ...set });
    return { ...role, ...set, updated_at: tx.now } as RoleRow;
  });
}

/**
 * Deletes a role without members and open invitations.
 * @throws AppError not_found, conflict (system role, role in use), forbidden (the role has permissions that the caller
 * lacks)
 */
export async function deleteRole(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    await lockOrganization(tx);
    const role = await findOwnRole(tx, id);
    await assertMayManage(tx, role, 'role');
    const [use] = await tx.org.sql<{ members: number; invitations: number }>(
      `select (select count(*)::int from memberships where organization_id = :org and role_id = :id) as members,
              (select count(*)::int from invitations where organization_id = :org and role_id = :id
                 and accepted_at is null and cancelled_at is null and expires_at > :now) as invitations`,
      { id, now: tx.now },
    );
    if (use!.members + use!.invitations > 0) {
      throw new AppError('conflict', message('role.in_use', use!), { fix: message('role.in_use.fix') });
    }
    await tx.org.query(Roles).findById(id).delete();
    tx.audit({ action: 'delete', entityType: 'role', entityId: id, metadata: { name: role.name } });
    tx.emit('role.deleted', { role_id: id, name: role.name });
  });
}
