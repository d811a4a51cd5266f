import type { Tx } from '../kernel/transact.ts';

/** An import with what has become of its rows. */
export interface EndedImport {
  id: string;
  imported: number;
  updated: number;
  skipped: number;
  failed: number;
}

/** Tells that an import has ended; its contacts arrive without an event each (`contact.created`). */
export function announceEnd(
  tx: Tx,
  { id, imported, updated, skipped, failed }: EndedImport,
  status: 'completed' | 'failed' | 'cancelled',
): void {
  tx.emit('bulk_operation.completed', {
    operation: 'contact_import',
    operation_id: id,
    status,
    imported,
    updated,
    skipped,
    failed,
  });
}
