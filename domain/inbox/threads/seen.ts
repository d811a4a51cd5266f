import type { Ctx } from '../../platform/kernel/context.ts';
import { assertMailboxAllowed } from '../../platform/kernel/actor.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { markMessages, type Marked } from './mark.ts';

/**
 * Marks received messages as seen or unseen, by their ids or all of a folder. Skips messages of other workspaces, and
 * of mailboxes that the key may not use. At the mail provider nothing is changed.
 * @returns number of changed messages
 */
export function markSeen(ctx: Ctx, marked: Marked, { seen }: { seen: boolean }): Promise<number> {
  return markMessages(ctx, marked, { column: 'seen', value: seen, says: { change: 'seen', seen } });
}

/**
 * Counts the unseen messages, except spam and trash, in one mailbox or in all that the caller may read.
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
