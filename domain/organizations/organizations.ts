import type { Trx } from '../../db/connection.ts';
import { notFound } from '../../lib/errors.ts';
import { isUuid, newId } from '../../lib/ids.ts';
import { SYSTEM_ROLES } from '../../lib/permissions.ts';
import { actingAs } from '../identity/sessions.ts';
import { throttle } from '../identity/throttle.ts';
import { organizationOf, type Ctx } from '../kernel/context.ts';
import { transact } from '../kernel/transact.ts';

export interface OrganizationRow {
  id: string;
  name: string;
  plan: 'free' | 'paid';
  created_at: Date;
  updated_at: Date;
}

/** An organization as one of its members sees it. */
export interface MyOrganization extends OrganizationRow {
  role_id: string;
  role_name: string;
  permissions: string[];
  is_owner: boolean;
}

function mine(ctx: Ctx) {
  return (ctx.trx ?? ctx.db)('organizations as o')
    .join('memberships as m', 'm.organization_id', 'o.id')
    .join('roles as r', 'r.id', 'm.role_id')
    .where('m.user_id', ctx.actor.userId)
    .select(
      'o.id',
      'o.name',
      'o.plan',
      'o.created_at',
      'o.updated_at',
      'r.id as role_id',
      'r.name as role_name',
      'r.permissions',
      'r.is_owner',
    );
}

/** The organizations the caller is a member of, oldest first. */
export async function listMyOrganizations(ctx: Ctx): Promise<MyOrganization[]> {
  return (await mine(ctx).orderBy('o.id')) as MyOrganization[];
}

/**
 * One organization the caller is a member of.
 * @throws AppError not_found, also for a malformed id and an organization the caller does not belong to
 */
export async function readMyOrganization(ctx: Ctx, id: string): Promise<MyOrganization> {
  const row = isUuid(id) ? ((await mine(ctx).where('o.id', id).first()) as MyOrganization | undefined) : undefined;
  if (!row) throw notFound('Organization');
  return row;
}

/** Creates an organization with its system roles and its founder as owner, inside an open transaction. */
export async function foundOrganization(ctx: Ctx, trx: Trx, founderId: string, name: string): Promise<OrganizationRow> {
  const now = ctx.clock.now();
  const id = newId();
  const [organization] = await trx('organizations')
    .insert({ id, name, created_by: founderId, created_at: now, updated_at: now })
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
    tx.audit({ action: 'create', entityType: 'organization', entityId: id, changes: { name } });
  });
  return organization as OrganizationRow;
}

/**
 * Creates an organization for the caller; their session selects it when it has none selected.
 * @throws AppError rate_limit_exceeded
 */
export async function createOrganization(ctx: Ctx, input: { name: string }): Promise<MyOrganization> {
  await throttle(ctx, 'organizations', ctx.actor.userId!);
  return ctx.db.transaction(async (trx) => {
    const { id } = await foundOrganization(ctx, trx, ctx.actor.userId!, input.name);
    await trx('sessions')
      .where('id', ctx.actor.sessionId!)
      .whereNull('organization_id')
      .update({ organization_id: id });
    return readMyOrganization({ ...ctx, trx }, id);
  });
}

/** Renames the organization. */
export async function updateOrganization(ctx: Ctx, changes: { name?: string | undefined }): Promise<MyOrganization> {
  const id = organizationOf(ctx);
  if (changes.name !== undefined) {
    await transact(ctx, async (tx) => {
      await tx.trx('organizations').where('id', id).update({ name: changes.name, updated_at: tx.now });
      tx.audit({ action: 'update', entityType: 'organization', entityId: id, changes: { name: changes.name } });
      tx.emit('settings.updated', { section: 'organization', changed: ['name'] });
    });
  }
  return readMyOrganization(ctx, id);
}

/**
 * Makes an organization the one the caller's session works in.
 * @throws AppError not_found when the caller is no member of it
 */
export async function selectOrganization(ctx: Ctx, id: string): Promise<MyOrganization> {
  const organization = await readMyOrganization(ctx, id);
  await ctx.db('sessions').where('id', ctx.actor.sessionId!).update({ organization_id: id });
  return organization;
}
