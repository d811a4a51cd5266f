import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact } from '../platform/kernel/transact.ts';
import { unreadableWaitMs } from '../sending/outcomes/record-inbound.ts';

/** Maximum number of attempts to read a message, which extend over about five days. */
const MAX_TRIES = 10;

/** Returns the UIDs of unreadable messages in a folder that are due for another attempt, earliest due first. */
export async function unreadableDue(
  ctx: Ctx,
  mailboxId: string,
  folder: string,
  uidValidity: number,
  limit: number,
): Promise<number[]> {
  const rows = await reader(ctx).sql<{ uid: number }>(
    `select uid from inbound_messages
     where organization_id = :org and mailbox_id = :mailbox and retry_at <= :now and folder = :folder and uid_validity = :validity
     order by retry_at limit :limit`,
    { mailbox: mailboxId, folder, validity: uidValidity, now: ctx.clock.now(), limit },
  );
  return rows.map(({ uid }) => uid);
}

/** Schedules another attempt at reading an unreadable message, except after the last attempt. */
export async function postponeUnreadable(
  ctx: Ctx,
  mailboxId: string,
  at: { folder: string; uidValidity: number; uid: number },
): Promise<void> {
  await transact(ctx, async (tx) => {
    const row = { mailbox_id: mailboxId, folder: at.folder, uid_validity: at.uidValidity, uid: at.uid };
    const found = await tx.org.table('inbound_messages').where(row).whereNotNull('retry_at').first('tries');
    if (!found) return;
    const tries = found.tries + 1;
    const retryAt = tries < MAX_TRIES ? new Date(tx.now.getTime() + unreadableWaitMs(tries)) : null;
    await tx.org.table('inbound_messages').where(row).update({ tries, retry_at: retryAt });
  });
}
