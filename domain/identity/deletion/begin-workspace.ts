import { across } from '../../../db/across.ts';
import type { DeletionTurn } from '../../../workflows/deletion/contract.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { lockOrganization } from '../organizations/grants.ts';
import { addMails, isConflict, lockScheduled, PEOPLE_MS, workspaceOf, type DeletionRow } from './deletions.ts';
import { assertNothingOwed, stopWork } from './stop-work.ts';

/**
 * Stops the work that was started in a workspace after its deletion was requested. Does nothing if the deletion was
 * cancelled.
 */
export async function stopStarted(deps: Deps, deletion: DeletionRow): Promise<void> {
  await stopAnd(deps, deletion, async () => {});
}

/**
 * Begins the erasure of a workspace. From then on nobody has access. Does nothing if the deletion was cancelled, and
 * waits if mailbox orders are open.
 */
export async function beginWorkspace(deps: Deps, deletion: DeletionRow): Promise<DeletionTurn> {
  const organization_id = deletion.subject_id;
  try {
    await stopAnd(deps, deletion, async (tx) => {
      await assertNothingOwed(tx);
      await addMails(tx.trx, deletion, 'done', await workspaceOf(tx.trx, deletion));
      const all = across(tx.trx, 'maintenance');
      await all.table('deletions').where({ id: deletion.id }).update({ state: 'erasing' });
      await all.table('memberships').where({ organization_id }).delete();
      await all.table('sessions').where({ organization_id }).update({ organization_id: null });
    });
  } catch (error) {
    isConflict(error);
    const wakeAt = deps.clock.now().getTime() + PEOPLE_MS;
    return { kind: 'wait', wakeAt, why: 'mailbox orders of the workspace' };
  }
  return { kind: 'more', why: 'erasing the workspace' };
}

/**
 * Stops the work of a workspace and calls `further` in the same transaction. Does nothing if its deletion is no longer
 * scheduled.
 */
async function stopAnd(deps: Deps, deletion: DeletionRow, further: (tx: Tx) => Promise<void>): Promise<void> {
  const ctx = systemCtx(deps, deletion.subject_id, `deletion/${deletion.id}`);
  await transact(ctx, async (tx) => {
    await lockOrganization(tx);
    if (!(await lockScheduled(tx.trx, deletion))) return;
    await stopWork({ ...ctx, joined: tx }, tx);
    await further(tx);
  });
}
