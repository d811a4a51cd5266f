import type { Columns } from '../../db/rows.ts';
import type { Message } from '../../messages/index.ts';
import type { Tx } from '../platform/kernel/transact.ts';

/** A provider action that waits to be performed, with its requester. */
type WaitingAction = Columns<'integration_deliveries', 'id' | 'connection_id' | 'action' | 'source'>;

/**
 * Cancels the waiting provider actions of a connection or of contacts that are about to be deleted. Reports each action
 * to its requester as cancelled. The caller must have locked the rows, so that no action is added in the meantime.
 * @param why reason that the requester shows
 */
export async function abandonDeliveries(
  tx: Tx,
  of: { connectionId: string } | { contactIds: readonly string[] },
  why: Message,
): Promise<void> {
  const [theirs, bindings] =
    'connectionId' in of
      ? ['connection_id = :connection', { connection: of.connectionId }]
      : ['contact_id = any(cast(:contacts as uuid[]))', { contacts: of.contactIds }];
  const rows = await tx.org.sql<WaitingAction>(
    `delete from integration_deliveries where organization_id = :org and ${theirs} and state = 'pending' and source is not null
     returning id, connection_id, action, source`,
    bindings,
  );
  for (const row of rows) emitSettled(tx, row, why);
}

/** Reports the outcome of an action to its requester. `error` is null if the action was done. */
export function emitSettled(tx: Tx, { id, connection_id, action, source }: WaitingAction, error: Message | null): void {
  if (!source) return;
  tx.emit('integration.action_settled', { delivery_id: id, connection_id, action, source, ok: error === null, error });
}
