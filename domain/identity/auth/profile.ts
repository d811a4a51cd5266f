import { changed } from '../../platform/changes.ts';
import { defined } from '../../../lib/defined.ts';
import { across } from '../../../db/across.ts';
import { inTransaction } from '../../../db/transaction.ts';
import type { Columns } from '../../../db/rows.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { listMyOrganizations, type MyOrganization } from '../organizations/organizations.ts';
import { auditOwn } from '../sessions.ts';
import type { Language } from '../../../messages/index.ts';

export type LabelRow = Columns<'labels', 'id' | 'registry' | 'title' | 'color'>;

/** A person, with all their workspaces and the labels of the selected one. */
export interface Profile {
  user: UserRow;
  workspaces: MyOrganization[];
  labels: LabelRow[];
}

const COLUMNS = [
  'id',
  'email',
  'first_name',
  'last_name',
  'language',
  'is_platform_admin',
  'deletion_scheduled_at',
  'deletion_scheduled_for',
  'created_at',
  'updated_at',
] as const;
type UserRow = Columns<'users', (typeof COLUMNS)[number]>;

/** Returns the caller's own profile. */
export async function readProfile(ctx: Ctx): Promise<Profile> {
  const user = (await across(ctx.db, 'person')
    .table('users')
    .where('id', ctx.actor.userId!)
    .first(...COLUMNS)) as UserRow;
  const workspaces = await listMyOrganizations(ctx);
  const labels = ctx.actor.organizationId
    ? await reader(ctx).table('labels').orderBy('position').select('id', 'registry', 'title', 'color')
    : [];
  return { user, workspaces, labels };
}

/** Changes the caller's name or the language of emails to them. Absent fields stay unchanged. */
export async function updateProfile(
  ctx: Ctx,
  changes: { first_name?: string | undefined; last_name?: string | undefined; language?: Language | undefined },
): Promise<Profile> {
  const set = defined(changes);
  if (Object.keys(set).length > 0) {
    await inTransaction(ctx.db, async (trx) => {
      const users = () => across(trx, 'person').table('users').where('id', ctx.actor.userId!);
      const before = await users().first('first_name', 'last_name', 'language');
      await users().update({ ...set, updated_at: ctx.clock.now() });
      await auditOwn(
        { ...ctx, trx },
        { action: 'update', entityType: 'user', entityId: ctx.actor.userId!, changes: changed(before!, set) },
      );
    });
  }
  return readProfile(ctx);
}
