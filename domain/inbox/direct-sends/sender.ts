import type { OrgScope } from '../../../db/tenancy.ts';
import { notFound } from '../../../lib/errors.ts';
import { existingIds } from '../../platform/references.ts';
import { SENDER_COLUMNS, type SenderColumns } from '../../sending/approved.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader } from '../../platform/kernel/transact.ts';

/**
 * Checks that the workspace has a mailbox.
 * @throws AppError not_found
 */
export async function assertMailboxExists(ctx: Ctx, id: string): Promise<void> {
  if ((await existingIds(reader(ctx), 'mailboxes', [id])).size === 0) throw notFound('mailbox');
}

/** Returns the mailbox from which an email is sent, or undefined if the mailbox was deleted. */
export async function findSender(org: OrgScope, id: string | null): Promise<SenderColumns | undefined> {
  const [sender] = await org.sql<SenderColumns>(
    `select ${SENDER_COLUMNS} from mailboxes m where m.organization_id = :org and m.id = :id`,
    { id },
  );
  return sender;
}
