import { across } from '../../../db/across.ts';
import type { Columns } from '../../../db/rows.ts';
import { systemCtx, type Deps } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';

/** Maximum number of bulk edits that one call completes. The next call continues. */
const AT_ONCE = 100;

/** Completes bulk edits whose addresses are all verified. */
export async function completeVerifications(deps: Deps): Promise<void> {
  const done = await across(deps.db, 'maintenance').sql<Columns<'bulk_edits', 'id' | 'organization_id' | 'changed'>>(
    `select e.id, e.organization_id, e.changed from bulk_edits e where e.completed_at is null and not exists (
       select from bulk_edit_contacts b join contact_verifications v on v.contact_id = b.contact_id where b.edit_id = e.id)
     order by e.id limit ${AT_ONCE}`,
  );
  for (const edit of done)
    await transact(systemCtx(deps, edit.organization_id, 'verification'), async (tx) => {
      const completed = await tx.org
        .table('bulk_edits')
        .where({ id: edit.id })
        .whereNull('completed_at')
        .update({ completed_at: tx.now });
      if (completed > 0) announceVerification(tx, edit, 'completed');
    });
}

/** Emits the event for the end of a bulk edit that verifies addresses. */
export function announceVerification(
  tx: Tx,
  { id, changed }: Columns<'bulk_edits', 'id' | 'changed'>,
  status: 'completed' | 'cancelled',
): void {
  tx.emit('bulk_operation.completed', {
    operation: 'contact_verification',
    operation_id: id,
    status,
    selected: changed,
  });
}
