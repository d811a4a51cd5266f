import type { Columns } from '../../../db/rows.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';

/** A change of a message column: the column, its new value, and the field in the event. */
interface Mark {
  column: 'filed' | 'seen';
  value: string | boolean;
  says: { change: 'folder'; folder: string } | { change: 'seen'; seen: boolean };
}

/** Messages to mark, by their ids or by their folder. */
export type Marked = { ids: readonly string[] } | { folder: string };

/**
 * Maximum number of messages of a folder that one call marks. It is limited because each message gets its own event.
 */
const MAX_MARKED = 10_000;

/**
 * Marks received messages. Skips messages of other workspaces, messages of mailboxes that the key may not use, and
 * messages that already have this mark. Marks at most {@link MAX_MARKED} messages of a folder, the newest first.
 * @returns number of changed messages
 */
export async function markMessages(ctx: Ctx, marked: Marked, { column, value, says }: Mark): Promise<number> {
  return transact(ctx, async (tx) => {
    const mailboxes = ctx.actor.allowedMailboxes;
    // Allows only one such call per workspace at a time. Two callers with the same conversations would lock their rows
    // in different orders and could deadlock.
    await tx.org.lock(`inbox-marks/${tx.org.organizationId}`);
    const among =
      'ids' in marked
        ? 'id = any(cast(:ids as uuid[]))'
        : `id in (select id from inbound_messages where organization_id = :org and filed = :folder and ${column} <> :value
             ${mailboxes ? 'and mailbox_id = any(cast(:mailboxes as uuid[]))' : ''} order by id desc limit ${MAX_MARKED})`;
    const rows = await tx.org.sql<Columns<'inbound_messages', 'id' | 'mailbox_id'>>(
      `with held as (
         select id from inbound_messages where organization_id = :org and ${among} and ${column} <> :value
           ${mailboxes ? 'and mailbox_id = any(cast(:mailboxes as uuid[]))' : ''} order by id for update
       )
       update inbound_messages m set ${column} = :value from held where m.id = held.id returning m.id, m.mailbox_id`,
      { ...('ids' in marked ? { ids: [...marked.ids] } : marked), value, ...(mailboxes ? { mailboxes } : {}) },
    );
    for (const { id, mailbox_id } of rows)
      tx.emit('inbox.email_updated', { email_id: id, email_account_id: mailbox_id, ...says });
    return rows.length;
  });
}
