import type { Columns } from '../../../db/rows.ts';
import { across } from '../../../db/across.ts';
import type { OrgScope } from '../../../db/tenancy.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { settleMade } from './made.ts';
import { endGrantsOfMember } from '../oauth/grants.ts';
import { assertMayGrant, assertMayManage, lockOrganization, roleToGrant } from './grants.ts';
import { message } from '../../../messages/index.ts';

export interface MemberRow
  extends
    Columns<'memberships', 'user_id' | 'role_id' | 'created_at'>,
    Columns<'users', 'email' | 'first_name' | 'last_name'>,
    Columns<'roles', 'is_owner'> {
  role_name: string;
  role_permissions: string[];
}

const LIST = 'members';
type OrgSql = Parameters<OrgScope['sql']>[0];

/**
 * Returns SQL for members with person and role. The limit is applied before the joins, so that every page costs the
 * same.
 */
function membersWhere(condition: string): OrgSql {
  return `
    select m.user_id, u.email, u.first_name, u.last_name, m.created_at,
      r.id as role_id, r.name as role_name, r.permissions as role_permissions, r.is_owner
    from (select * from memberships where organization_id = :org and ${condition} order by user_id limit :limit) m
    join users u on u.id = m.user_id join roles r on r.id = m.role_id
    order by m.user_id`;
}

/** SQL condition for members with an email domain that the organization no longer admits. */
const IS_OUTSIDE = `exists (select from users u, organizations o where u.id = user_id and o.id = organization_id
  and cardinality(o.member_email_domains) > 0 and not split_part(u.email, '@', 2) = any(o.member_email_domains))`;

/**
 * Lists the members in the order in which their accounts were created.
 * @param outsideDomains true to list only members with an email domain that the organization does not admit
 */
export async function listMembers(
  ctx: Ctx,
  page: PageRequest,
  { outsideDomains = false } = {},
): Promise<Page<MemberRow>> {
  const about = outsideDomains ? 'outside' : null;
  const after = decodeIdCursor(LIST, about, page.cursor);
  const condition = [after ? 'user_id > :after' : 'true', ...(outsideDomains ? [IS_OUTSIDE] : [])].join(' and ');
  const rows = await reader(ctx).sql<MemberRow>(membersWhere(condition), {
    limit: page.limit + 1,
    ...(after ? { after } : {}),
  });
  return pageOf(rows, page.limit, (last) => encodeCursor(LIST, about, [last.user_id]));
}

/** Returns true if an address (lower-case) belongs to a member. */
export async function isMember(tx: Tx, email: string): Promise<boolean> {
  const [member] = await tx.org.sql(
    'select 1 from memberships m join users u on u.id = m.user_id where m.organization_id = :org and u.email = :email',
    { email },
  );
  return member !== undefined;
}

async function findMember(tx: Tx, userId: string): Promise<MemberRow> {
  const [row] = isUuid(userId)
    ? await tx.org.sql<MemberRow>(membersWhere('user_id = :userId'), { userId, limit: 1 })
    : [];
  if (!row) throw notFound('member');
  return row;
}

/**
 * Refuses to remove the last owner of a workspace.
 * @throws AppError conflict when the member is the only owner
 */
export async function assertNotLastOwner(tx: Tx, member: Pick<MemberRow, 'user_id' | 'is_owner'>): Promise<void> {
  if (!member.is_owner) return;
  const [row] = await tx.org.sql<{ others: number }>(
    `select count(*)::int as others from memberships m join roles r on r.id = m.role_id
     where m.organization_id = :org and r.is_owner and m.user_id <> :userId`,
    { userId: member.user_id },
  );
  if (row!.others === 0)
    throw new AppError('conflict', message('member.last_owner'), {
      fix: message('member.last_owner.fix'),
    });
}

/**
 * Assigns another role to a member, effective with the member's next request.
 * @throws AppError not_found; bad_request (unknown role); forbidden (granting or changing permissions that the caller
 * lacks); conflict (last owner)
 */
export async function changeMemberRole(ctx: Ctx, userId: string, roleId: string): Promise<MemberRow> {
  return transact(ctx, async (tx) => {
    await lockOrganization(tx);
    const member = await findMember(tx, userId);
    const role = await roleToGrant(tx, roleId);
    await assertMayManage(tx, { permissions: member.role_permissions, is_owner: member.is_owner });
    await assertMayGrant(tx, role);
    if (member.role_id === role.id) return member;
    if (!role.is_owner) await assertNotLastOwner(tx, member);
    await tx.org.table('memberships').where('user_id', userId).update({ role_id: role.id });
    tx.audit({
      action: 'update',
      entityType: 'member',
      entityId: userId,
      changes: { role: { from: member.role_name, to: role.name } },
    });
    tx.emit('team.member_role_changed', {
      user_id: userId,
      role_id: role.id,
      role_name: role.name,
      previous_role_id: member.role_id,
    });
    return findMember(tx, userId);
  });
}

/**
 * Removes a member. Their sessions lose the organization, and their grants to applications end at once, together with
 * the keys of those applications. API keys, applications and connections that the member created belong to the
 * organization, so the caller decides to keep or to revoke them.
 * @param made `keep` transfers them to the caller; `revoke` revokes the keys, deletes the applications and disconnects
 * the connections
 * @throws AppError not_found; forbidden (the member has more rights); conflict (last owner; the member created objects
 * and `made` is absent)
 */
export async function removeMember(ctx: Ctx, userId: string, made?: 'keep' | 'revoke'): Promise<void> {
  await transact(ctx, async (tx) => {
    await lockOrganization(tx);
    const member = await findMember(tx, userId);
    await assertMayManage(tx, { permissions: member.role_permissions, is_owner: member.is_owner });
    await assertNotLastOwner(tx, member);
    await settleMade({ ...ctx, joined: tx }, tx, userId, made);
    await tx.org.table('memberships').where('user_id', userId).delete();
    await endGrantsOfMember(tx, userId);
    await across(tx.trx, 'person')
      .table('sessions')
      .where({ user_id: userId, organization_id: tx.org.organizationId })
      .update({ organization_id: null });
    tx.audit({
      action: 'delete',
      entityType: 'member',
      entityId: userId,
      metadata: { role: member.role_name, ...(made ? { made } : {}) },
    });
    tx.emit('team.member_removed', { user_id: userId, role_id: member.role_id });
  });
}
