import type { Ctx } from '../kernel/context.ts';
import { transact } from '../kernel/transact.ts';

/** Where received messages are filed. */
export const FOLDERS = ['inbox', 'archive', 'spam', 'trash'] as const;
export type Folder = (typeof FOLDERS)[number];

/** Where a person can put them: what is spam is said by the mail provider. */
export const TARGET_FOLDERS = ['inbox', 'archive', 'trash'] as const;

/**
 * Files received messages; ids of other workspaces, or of mailboxes the key may not use, are passed over. Only here: the copy at the mail
 * provider stays where it is.
 * @returns how many changed
 */
export async function moveMessages(
  ctx: Ctx,
  ids: readonly string[],
  folder: (typeof TARGET_FOLDERS)[number],
): Promise<number> {
  return transact(ctx, async (tx) => {
    const mailboxes = ctx.actor.allowedMailboxes;
    // Two callers with the same conversations would take their rows in different orders.
    await tx.org.lock(`inbox-marks/${tx.org.organizationId}`);
    const rows = await tx.org.sql<{ id: string; mailbox_id: string }>(
      `with held as (
         select id from inbound_messages where organization_id = :org and id = any(cast(:ids as uuid[])) and filed <> :folder
           ${mailboxes ? 'and mailbox_id = any(cast(:mailboxes as uuid[]))' : ''} order by id for update
       )
       update inbound_messages m set filed = :folder from held where m.id = held.id returning m.id, m.mailbox_id`,
      { ids: [...ids], folder, ...(mailboxes ? { mailboxes } : {}) },
    );
    for (const { id, mailbox_id } of rows)
      tx.emit('inbox.email_updated', { email_id: id, email_account_id: mailbox_id, change: 'folder', folder });
    return rows.length;
  });
}
