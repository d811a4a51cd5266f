import { notFound } from '../../../lib/errors.ts';
import { existingIds } from '../../platform/references.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

/**
 * Checks that the workspace has a mailbox.
 * @throws AppError not_found
 */
export async function assertMailboxExists(ctx: Ctx, id: string): Promise<void> {
  if ((await existingIds(reader(ctx), 'mailboxes', [id])).size === 0) throw notFound('mailbox');
}
