import { Roles, type RoleRow } from '../../../db/models/role.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { AppError, badRequest, type Problem } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { assertHeld } from '../../platform/rights.ts';
import { message } from '../../../messages/index.ts';

const NO_ROLE: Problem = { path: 'body.role_id', message: message('field.no_role') };

/** Permissions of a role, new or stored. */
interface RolePermissions {
  permissions: readonly string[];
  is_owner?: boolean;
}

/**
 * Refuses to grant permissions that the actor does not have.
 * @throws AppError forbidden naming the missing permissions
 */
export function assertMayGrant(tx: Tx, role: RolePermissions): Promise<void> {
  return assertRoleHeld(tx, role, 'member.make_owner', 'member.beyond_you');
}

/**
 * Refuses to change a role, or a member with a role, that has permissions which the actor does not have.
 * @param what name of the changed object, for the message
 * @throws AppError forbidden
 */
export function assertMayManage(tx: Tx, role: RolePermissions, what: 'member' | 'role' = 'member'): Promise<void> {
  return assertRoleHeld(tx, role, 'member.change_owner', `${what}.stronger`);
}

/** Refuses a role with permissions that the actor lacks, with one message for owners and another for other roles. */
function assertRoleHeld(
  tx: Tx,
  { permissions, is_owner: isOwner = false }: RolePermissions,
  ofOwner: 'member.make_owner' | 'member.change_owner',
  ofOthers: 'member.beyond_you' | 'member.stronger' | 'role.stronger',
): Promise<void> {
  return assertHeld(tx.org, tx.actor, { permissions, isOwner }, (beyond) => {
    const said = beyond.includes('owner') ? message(ofOwner) : message(ofOthers, { permissions: beyond });
    return new AppError('forbidden', said);
  });
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
 * Locks the organization, so that changes of its members, roles and invitations are executed one after another. This
 * ensures that there is always an owner, and that a role in use is not deleted.
 */
export async function lockOrganization(tx: Tx): Promise<void> {
  await tx.org.sql('select id from organizations where id = :org for update');
}
