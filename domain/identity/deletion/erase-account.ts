import { across } from '../../../db/across.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { MINUTE_MS } from '../../../lib/clock.ts';
import type { DeletionTurn } from '../../../workflows/deletion/contract.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { lockOrganization } from '../organizations/grants.ts';
import { settleMadeByErased } from '../organizations/made.ts';
import { assertNotLastOwner } from '../organizations/members.ts';
import { endGrantsOfMember } from '../oauth/grants.ts';
import { scheduleWithAccount, workspacesOwnedAlone } from './account.ts';
import { isConflict, lockScheduled, PEOPLE_MS, type DeletionRow } from './deletions.ts';

/** Interval (ms) at which an account is checked while its workspaces are being erased. */
const WORKSPACES_MS = MINUTE_MS;

/**
 * Prepares the erasure of an account: deletes the workspaces that have no other members, and waits for their erasure.
 * @returns when to try again and why; undefined when the account can be erased
 */
export async function beginAccount(deps: Deps, deletion: DeletionRow): Promise<DeletionTurn | undefined> {
  const now = deps.clock.now().getTime();
  const owned = await workspacesOwnedAlone(deps.db, deletion.subject_id);
  const alone = owned.filter(({ others }) => others === 0);
  for (const { id, isScheduled } of alone) {
    if (isScheduled) continue;
    // The workspace still had other members when the deletion was requested, so it was not scheduled then.
    const ctx = systemCtx(deps, id, `deletion/${deletion.id}`);
    const isRefused = await transact(ctx, async (tx) => {
      // Schedules the workspace only if the account's deletion was not cancelled. After a cancellation nobody would
      // cancel the workspace's deletion.
      if (await lockScheduled(tx.trx, deletion)) await scheduleWithAccount(ctx, tx, deletion);
    }).then(() => false, isConflict);
    if (isRefused) return { kind: 'wait', wakeAt: now + PEOPLE_MS, why: 'mailbox orders of a workspace' };
  }
  if (alone.length > 0) return { kind: 'wait', wakeAt: now + WORKSPACES_MS, why: 'the workspaces of the account' };
  if (owned.some(({ isScheduled }) => !isScheduled))
    return { kind: 'wait', wakeAt: now + PEOPLE_MS, why: 'another owner for a workspace' };
  return undefined;
}

/**
 * Erases an account: ends its memberships with their grants and API keys, and deletes the person with sessions,
 * credentials and invitations. Rows that the person created stay in their workspaces, without a reference to the
 * person.
 * @returns when to try again and why, if the person has become the only owner of a workspace; undefined when the
 * account is erased
 */
export async function finishAccount(deps: Deps, deletion: DeletionRow): Promise<DeletionTurn | undefined> {
  const userId = deletion.subject_id;
  const memberships = await across(deps.db, 'person')
    .table('memberships')
    .where({ user_id: userId })
    .orderBy('organization_id')
    .pluck('organization_id');
  try {
    for (const organizationId of memberships) await leave(deps, deletion, organizationId);
  } catch (error) {
    isConflict(error);
    return { kind: 'wait', wakeAt: deps.clock.now().getTime() + PEOPLE_MS, why: 'another owner for a workspace' };
  }
  await inTransaction(deps.db, async (trx) => {
    const person = across(trx, 'person');
    const user = await person.table('users').where({ id: userId }).forUpdate().first('email');
    if (!user) return;
    await person.table('invitations').where({ email: user.email }).delete();
    await person.table('auth_challenges').where({ email: user.email }).delete();
    await person.table('users').where({ id: userId }).delete();
  });
  return undefined;
}

/** @throws AppError conflict if the person is the only owner of the workspace */
async function leave(deps: Deps, deletion: DeletionRow, organizationId: string): Promise<void> {
  const ctx = systemCtx(deps, organizationId, `deletion/${deletion.id}`);
  await transact(ctx, async (tx) => {
    await lockOrganization(tx);
    const [member] = await tx.org.sql<{ role_id: string; is_owner: boolean }>(
      `select m.role_id, r.is_owner from memberships m join roles r on r.id = m.role_id
       where m.organization_id = :org and m.user_id = :user`,
      { user: deletion.subject_id },
    );
    if (!member) return;
    await assertNotLastOwner(tx, { user_id: deletion.subject_id, is_owner: member.is_owner });
    await settleMadeByErased({ ...ctx, joined: tx }, tx, deletion.subject_id);
    await endGrantsOfMember(tx, deletion.subject_id);
    await tx.org.table('memberships').where({ user_id: deletion.subject_id }).delete();
    tx.audit({
      action: 'delete',
      entityType: 'member',
      entityId: deletion.subject_id,
      metadata: { account: 'deleted' },
    });
    tx.emit('team.member_removed', { user_id: deletion.subject_id, role_id: member.role_id });
  });
}
