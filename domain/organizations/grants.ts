import type { RoleRow } from '../../db/models/role.ts';
import { Roles } from '../../db/models/role.ts';
import { AppError, badRequest } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { OrgPermission } from '../../lib/permissions.ts';
import type { Actor } from '../kernel/actor.ts';
import type { Tx } from '../kernel/transact.ts';

/**
 * Refuses to grant permissions that the actor does not have.
 * @throws AppError forbidden naming what is missing
 */
export function assertMayGrant(actor: Actor, role: { permissions: readonly string[]; is_owner?: boolean }): void {
  if (role.is_owner && !actor.isOwner) throw new AppError('forbidden', 'Only an owner may make someone an owner');
  const missing = role.permissions.filter((permission) => !actor.orgPermissions.has(permission as OrgPermission));
  if (missing.length > 0)
    throw new AppError('forbidden', `You cannot grant permissions you lack: ${missing.join(', ')}`);
}

/**
 * Refuses to change a member who has permissions that the actor does not have.
 * @throws AppError forbidden
 */
export function assertMayManage(actor: Actor, role: { permissions: readonly string[]; is_owner: boolean }): void {
  if (role.is_owner && !actor.isOwner) throw new AppError('forbidden', 'Only an owner may change an owner');
  if (role.permissions.some((permission) => !actor.orgPermissions.has(permission as OrgPermission))) {
    throw new AppError('forbidden', 'You cannot change a member whose role holds permissions you lack');
  }
}

/**
 * The role that a request names.
 * @throws AppError bad_request when the organization has no such role
 */
export async function roleToGrant(tx: Tx, roleId: string): Promise<RoleRow> {
  const role = isUuid(roleId) ? await tx.org.query(Roles).findById(roleId) : undefined;
  if (!role)
    throw badRequest('There is no such role', [{ path: 'body.role_id', message: 'No role of this workspace' }]);
  return role;
}

/**
 * Serializes changes of members, roles and invitations of one organization, so that rules about the
 * whole (there is always an owner; a role in use stays) hold under concurrency.
 */
export async function lockOrganization(tx: Tx): Promise<void> {
  await tx.org.sql('select id from organizations where id = :org for update');
}
