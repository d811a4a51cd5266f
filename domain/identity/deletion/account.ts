import { across } from '../../../db/across.ts';
import type { Db, Trx } from '../../../db/connection.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { AppError, type Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { lockOrganization } from '../organizations/grants.ts';
import { isPasswordCorrect } from '../passwords.ts';
import { actingAs, auditOwn } from '../sessions.ts';
import { throttle } from '../throttle.ts';
import { callBack, insertDeletion, lockOpenDeletion } from './deletions.ts';
import { keepWithin, scheduleWithin } from './workspace.ts';

/** A workspace of which a person is the only owner. */
interface SoleOwned {
  id: string;
  name: string;
  /** Number of other members. */
  others: number;
  isScheduled: boolean;
}

/** Lists the workspaces of which a person is the only owner, oldest first. */
export function workspacesOwnedAlone(handle: Db | Trx, userId: string): Promise<SoleOwned[]> {
  return across(handle, 'person').sql<SoleOwned>(
    `select o.id, o.name, o.deletion_scheduled_for is not null as "isScheduled",
       (select count(*)::int - 1 from memberships a where a.organization_id = o.id) as others
     from memberships m join roles r on r.id = m.role_id join organizations o on o.id = m.organization_id
     where m.user_id = :userId and r.is_owner and not exists (
       select from memberships a join roles b on b.id = a.role_id
       where a.organization_id = o.id and b.is_owner and a.user_id <> m.user_id)
     order by o.id`,
    { userId },
  );
}

/**
 * Schedules the erasure of the caller's account in 14 days, together with the workspaces in which nobody else is. The
 * person can sign in until then.
 * @throws AppError unauthorized if the password is wrong; rate_limit_exceeded
 * @throws AppError conflict if it is scheduled already, or a workspace to delete has open mailbox orders
 * @throws AppError conflict naming the workspaces with other members of which the person is the only owner
 */
export async function scheduleAccountDeletion(ctx: Ctx, password: string): Promise<void> {
  const userId = ctx.actor.userId!;
  const user = await across(ctx.db, 'person').table('users').where({ id: userId }).first('id', 'password_hash');
  await throttle(ctx, 'password', userId);
  if (!(await isPasswordCorrect(user, password))) throw new AppError('unauthorized', message('account.wrong_password'));
  await inTransaction(ctx.db, async (trx) => {
    const { email, language } = (await across(trx, 'person')
      .table('users')
      .where({ id: userId })
      .forUpdate()
      .first('email', 'language'))!;
    if (await lockOpenDeletion(trx, userId)) throw new AppError('conflict', message('deletion.already_scheduled'));
    const owned = await workspacesOwnedAlone(trx, userId);
    refuseOwner(owned.filter(({ others }) => others > 0));
    const deletion = await insertDeletion(trx, {
      kind: 'account',
      subjectId: userId,
      requestedBy: userId,
      now: ctx.clock.now(),
      name: '',
      addressees: [{ email, language }],
    });
    for (const { id, name, isScheduled } of owned) {
      if (isScheduled) continue;
      await transact(actingAs(ctx, trx, userId, id), async (tx) => {
        await lockOrganization(tx);
        await scheduleWithin(actingAs(ctx, trx, userId, id), tx, name, deletion);
      });
    }
    await auditOwn(
      { ...ctx, trx },
      {
        action: 'user.deletion_scheduled',
        entityType: 'user',
        entityId: userId,
        metadata: { deletion_scheduled_for: deletion.scheduled_for.toISOString() },
      },
    );
  });
}

/** @throws AppError conflict naming the workspaces that would be without an owner */
function refuseOwner(owned: readonly SoleOwned[]): void {
  if (owned.length === 0) return;
  const problems: Problem[] = owned.map(({ id, name, others }) => ({
    path: `organizations.${id}`,
    message: message('deletion.owner_of', { name, others }),
  }));
  throw new AppError('conflict', message('deletion.only_owner', { count: owned.length }), {
    problems,
    fix: message('deletion.only_owner.fix'),
  });
}

/**
 * Calls back the deletion of the caller's account, and those of the workspaces scheduled with it.
 * @throws AppError conflict if no deletion is scheduled, or the erasure has begun
 */
export async function keepAccount(ctx: Ctx): Promise<void> {
  const userId = ctx.actor.userId!;
  await inTransaction(ctx.db, async (trx) => {
    const deletion = await lockOpenDeletion(trx, userId);
    if (!deletion) throw new AppError('conflict', message('deletion.none'));
    if (deletion.state === 'erasing') throw new AppError('conflict', message('deletion.has_begun'));
    const workspaces = await across(trx, 'person')
      .table('deletions')
      .where({ with_account: deletion.id, state: 'scheduled' })
      .orderBy('id')
      .forUpdate();
    await callBack(trx, deletion);
    for (const workspace of workspaces)
      await transact(actingAs(ctx, trx, userId, workspace.subject_id), (tx) => keepWithin(tx, workspace));
    await auditOwn({ ...ctx, trx }, { action: 'user.deletion_called_back', entityType: 'user', entityId: userId });
  });
}
