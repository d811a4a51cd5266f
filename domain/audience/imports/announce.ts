import type { Tx } from '../../platform/kernel/transact.ts';

/** An ended import with its counts. */
export interface EndedImport {
  id: string;
  imported: number;
  updated: number;
  skipped: number;
  failed: number;
}

/** Emits an event for the end of an import. No contact.created is emitted for its contacts. */
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
