import { Roles, type RoleRow } from '../../../db/models/role.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, badRequest, type Problem } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { OrgPermission } from '../../../lib/permissions.ts';
import type { Actor } from '../../platform/kernel/actor.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { message } from '../../../messages/index.ts';

const NO_ROLE: Problem = { path: 'body.role_id', message: message('field.no_role') };

/**
 * Refuses to grant permissions that the actor does not have.
 * @throws AppError forbidden naming the missing permissions
 */
export function assertMayGrant(actor: Actor, role: { permissions: readonly string[]; is_owner?: boolean }): void {
  if (role.is_owner && !actor.isOwner) throw new AppError('forbidden', message('member.make_owner'));
  const missing = role.permissions.filter((permission) => !actor.orgPermissions.has(permission as OrgPermission));
  if (missing.length > 0) throw new AppError('forbidden', message('member.beyond_you', { permissions: missing }));
}

/**
 * Refuses to change a member who has permissions that the actor does not have.
 * @throws AppError forbidden
 */
export function assertMayManage(actor: Actor, role: { permissions: readonly string[]; is_owner: boolean }): void {
  if (role.is_owner && !actor.isOwner) throw new AppError('forbidden', message('member.change_owner'));
  if (role.permissions.some((permission) => !actor.orgPermissions.has(permission as OrgPermission))) {
    throw new AppError('forbidden', message('member.stronger'));
  }
}

/** Returns a problem if the organization does not have the role named by a request. */
export async function roleProblems(org: OrgScope, roleId: string | undefined): Promise<Problem[]> {
  const known = roleId === undefined || (isUuid(roleId) && (await org.query(Roles).findById(roleId)) !== undefined);
  return known ? [] : [NO_ROLE];
}

/**
 * Returns the role named by a request.
 * @throws AppError bad_request when the organization has no such role
 */
export async function roleToGrant(tx: Tx, roleId: string): Promise<RoleRow> {
  const role = isUuid(roleId) ? await tx.org.query(Roles).findById(roleId) : undefined;
  if (!role) throw badRequest(message('role.not_found'), [NO_ROLE]);
  return role;
}

/**
 * Serializes changes of members, roles and invitations of one organization. So rules about all of them (there is always
 * an owner; a role in use stays) hold under concurrency.
 */
export async function lockOrganization(tx: Tx): Promise<void> {
  await tx.org.sql('select id from organizations where id = :org for update');
}
