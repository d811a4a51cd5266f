import type { Ctx } from '../../platform/kernel/context.ts';
import { assertMailboxAllowed } from '../../platform/kernel/actor.ts';
import { reader } from '../../platform/kernel/transact.ts';
import { markMessages } from './mark.ts';

/**
 * Marks received messages as seen or not; ids of other workspaces, or of mailboxes the key may not use, are passed over. Only
 * here: the mailbox at the provider keeps its own marks.
 * @returns how many changed
 */
export function markSeen(ctx: Ctx, ids: readonly string[], { seen }: { seen: boolean }): Promise<number> {
  return markMessages(ctx, ids, { column: 'seen', value: seen, says: { change: 'seen', seen } });
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
