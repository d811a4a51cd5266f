import { across } from '../../../db/across.ts';
import type { Db, Trx } from '../../../db/connection.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { AppError, type Problem } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { lockOrganization } from '../organizations/grants.ts';
import { isPasswordCorrect } from '../passwords.ts';
import { actingAs, auditOwn } from '../sessions.ts';
import { throttle } from '../throttle.ts';
import { callBack, insertDeletion, lockOpenDeletion, type DeletionRow } from './deletions.ts';
import { keepWithin, scheduleWithin } from './workspace.ts';

/** A workspace whose only owner is the given person. */
interface SoleOwned {
  id: string;
  name: string;
  /** Number of other members. */
  others: number;
  isScheduled: boolean;
}

/** Lists the workspaces whose only owner is the given person, oldest first. */
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
 * Schedules the erasure of the caller's account in 14 days, together with the workspaces that have no other members.
 * The person can sign in until then.
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
    for (const { id } of owned) {
      const own = actingAs(ctx, trx, userId, id);
      await transact(own, async (tx) => refuseOwner(await scheduleWithAccount(own, tx, deletion)));
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

/**
 * Schedules the deletion of the transaction's workspace together with the account of its only member. Locks the
 * workspace and then reads its members, because other people may have joined since the caller read them.
 * @returns the workspace if it has other members and was therefore not scheduled; otherwise an empty list
 * @throws AppError conflict if mailbox orders are open
 */
export async function scheduleWithAccount(ctx: Ctx, tx: Tx, deletion: DeletionRow): Promise<SoleOwned[]> {
  await lockOrganization(tx);
  const owned = await workspacesOwnedAlone(tx.trx, deletion.subject_id);
  const [workspace] = owned.filter(({ id }) => id === tx.org.organizationId);
  if (!workspace || workspace.isScheduled) return [];
  if (workspace.others > 0) return [workspace];
  await scheduleWithin(ctx, tx, workspace.name, deletion);
  return [];
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
 * Cancels the scheduled deletion of the caller's account, and of the workspaces that were scheduled with it.
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
