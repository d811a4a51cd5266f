import type { Columns } from '../../../db/rows.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';

/** A change of a message column: the column, its new value, and the field in the event. */
interface Mark {
  column: 'filed' | 'seen';
  value: string | boolean;
  says: { change: 'folder'; folder: string } | { change: 'seen'; seen: boolean };
}

/**
 * Marks received messages. Skips ids of other workspaces and of mailboxes that the key may not use, and messages that
 * have this mark already.
 * @returns number of changed messages
 */
export async function markMessages(ctx: Ctx, ids: readonly string[], { column, value, says }: Mark): Promise<number> {
  return transact(ctx, async (tx) => {
    const mailboxes = ctx.actor.allowedMailboxes;
    // Two callers with the same conversations would lock their rows in different orders.
    await tx.org.lock(`inbox-marks/${tx.org.organizationId}`);
    const rows = await tx.org.sql<Columns<'inbound_messages', 'id' | 'mailbox_id'>>(
      `with held as (
         select id from inbound_messages where organization_id = :org and id = any(cast(:ids as uuid[])) and ${column} <> :value
           ${mailboxes ? 'and mailbox_id = any(cast(:mailboxes as uuid[]))' : ''} order by id for update
       )
       update inbound_messages m set ${column} = :value from held where m.id = held.id returning m.id, m.mailbox_id`,
      { ids: [...ids], value, ...(mailboxes ? { mailboxes } : {}) },
    );
    for (const { id, mailbox_id } of rows)
      tx.emit('inbox.email_updated', { email_id: id, email_account_id: mailbox_id, ...says });
    return rows.length;
  });
}
