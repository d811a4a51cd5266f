import { notFound } from '../../../lib/errors.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

/**
 * Checks that a conversation exists.
 * @throws AppError not_found for a conversation without a received message that the caller may read
 */
export async function assertThread(ctx: Ctx, threadId: string): Promise<void> {
  const mailboxes = ctx.actor.allowedMailboxes;
  const rows = await reader(ctx).sql(
    `select 1 from inbound_messages where organization_id = :org and thread_id = :thread
       ${mailboxes ? 'and mailbox_id = any(cast(:mailboxes as uuid[]))' : ''} limit 1`,
    { thread: threadId, ...(mailboxes ? { mailboxes } : {}) },
  );
  if (rows.length === 0) throw notFound('thread');
}
