import type { Ctx } from '../kernel/context.ts';
import { assertMailboxAllowed } from '../kernel/actor.ts';
import { reader, transact } from '../kernel/transact.ts';

/**
 * Marks received messages as seen or not; ids of other workspaces, or of mailboxes the key may not use, are passed over. Only
 * here: the mailbox at the provider keeps its own marks.
 * @returns how many changed
 */
export async function markSeen(ctx: Ctx, ids: readonly string[], seen: boolean): Promise<number> {
  return transact(ctx, async (tx) => {
    const mailboxes = ctx.actor.allowedMailboxes;
    // Two callers with the same conversations would take their rows in different orders.
    await tx.org.lock(`inbox-marks/${tx.org.organizationId}`);
    const rows = await tx.org.sql<{ id: string; mailbox_id: string }>(
      `with held as (
         select id from inbound_messages where organization_id = :org and id = any(cast(:ids as uuid[])) and seen <> :seen
           ${mailboxes ? 'and mailbox_id = any(cast(:mailboxes as uuid[]))' : ''} order by id for update
       )
       update inbound_messages m set seen = :seen from held where m.id = held.id returning m.id, m.mailbox_id`,
      { ids: [...ids], seen, ...(mailboxes ? { mailboxes } : {}) },
    );
    for (const { id, mailbox_id } of rows)
      tx.emit('inbox.email_updated', { email_id: id, email_account_id: mailbox_id, change: 'seen', seen });
    return rows.length;
  });
}

/**
 * Received messages that nobody has marked as seen, without spam and trash, in all mailboxes the caller may read or in one.
 * @throws AppError forbidden for a mailbox the key may not use
 */
export async function countUnseen(ctx: Ctx, mailboxId?: string): Promise<number> {
  if (mailboxId !== undefined) assertMailboxAllowed(ctx.actor, mailboxId.toLowerCase());
  const mailboxes = mailboxId === undefined ? ctx.actor.allowedMailboxes : [mailboxId];
  const [row] = await reader(ctx).sql<{ count: number }>(
    `select coalesce(sum(unseen_count), 0)::int as count from inbox_threads where organization_id = :org and unseen_count > 0
       ${mailboxes ? 'and mailbox_id = any(cast(:mailboxes as uuid[]))' : ''}`,
    mailboxes ? { mailboxes } : {},
  );
  return row!.count;
}
