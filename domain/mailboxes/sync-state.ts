import { notifyAfterCommit } from '../../db/notify.ts';
import type { Columns } from '../../db/rows.ts';
import { findMailbox } from './read.ts';
import { DAY_MS } from '../../lib/clock.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { clearHold, holdMailbox } from '../sending/control/mailbox-hold.ts';
import type { Message } from '../../messages/index.ts';

/** PostgreSQL channel that notifies the workers that read mail of added, changed and removed mailboxes. */
export const MAILBOXES_CHANNEL = 'heron_mailboxes';

/**
 * Notifies the workers that read mail after this transaction commits. Without the notification, they notice the change
 * only at their next query.
 */
export function notifySync(tx: Tx): void {
  notifyAfterCommit(tx.trx, MAILBOXES_CHANNEL);
}

/** Reading progress of a folder. */
interface FolderProgress {
  /** UIDVALIDITY of the folder. Null if the folder was never read. */
  uidValidity: number | null;
  lastUid: number;
  /** If UIDVALIDITY has changed, the messages that were received after this time are read. */
  since: Date;
}

/** Returns the reading progress of a folder. Creates its row when the folder is read for the first time. */
export async function readFolderProgress(ctx: Ctx, mailboxId: string, folder: string): Promise<FolderProgress> {
  const org = reader(ctx);
  await org.insert('mailbox_sync', { mailbox_id: mailboxId, folder }).onConflict(['mailbox_id', 'folder']).ignore();
  const [row] = await org.sql<{ uid_validity: number | null; last_uid: number; since: Date }>(
    `select y.uid_validity, y.last_uid, coalesce(y.last_synced_at, m.created_at) as since from mailbox_sync y join mailboxes m on m.id = y.mailbox_id
     where y.organization_id = :org and y.mailbox_id = :mailbox and y.folder = :folder`,
    { mailbox: mailboxId, folder },
  );
  return { uidValidity: row!.uid_validity, lastUid: row!.last_uid, since: row!.since };
}

/**
 * Starts reading a folder, or restarts if its UIDVALIDITY has changed. All messages up to `lastUid` are treated as
 * read.
 */
export async function startFolderAt(
  ctx: Ctx,
  mailboxId: string,
  folder: string,
  uidValidity: number,
  lastUid: number,
): Promise<void> {
  await transact(ctx, (tx) =>
    tx.org
      .table('mailbox_sync')
      .where({ mailbox_id: mailboxId, folder })
      .update({ uid_validity: uidValidity, last_uid: lastUid }),
  );
}

/** Records that all present messages of a folder have been read. */
export async function recordFolderRead(
  ctx: Ctx,
  mailboxId: string,
  folder: string,
  newMessages: number,
): Promise<void> {
  await transact(ctx, async (tx) => {
    await tx.org.sql(
      `update mailbox_sync set last_synced_at = :now, failures = 0, retry_at = null, last_error = null,
         activity = case when :count > 0 then :day + ln(:count + power(2, greatest(-500, least(500, activity - :day)))) / ln(2) else activity end
       where organization_id = :org and mailbox_id = :mailbox and folder = :folder`,
      { mailbox: mailboxId, folder, now: tx.now, count: newMessages, day: tx.now.getTime() / DAY_MS },
    );
    if (newMessages > 0)
      tx.emit('email_account.synced', { email_account_id: mailboxId, folder, new_messages: newMessages });
  });
}

/** Returns the number of successive failures to read the mailbox. */
export async function syncFailures(ctx: Ctx, mailboxId: string): Promise<number> {
  const row = await reader(ctx)
    .table('mailbox_sync')
    .where({ mailbox_id: mailboxId, folder: 'INBOX' })
    .first('failures');
  return row?.failures ?? 0;
}

/** Ends the hold that a refused sign-in has caused, after a successful sign-in. */
export async function recordSignIn(ctx: Ctx, mailboxId: string): Promise<void> {
  await transact(ctx, (tx) => clearHold(tx, mailboxId, 'imap_auth_failed'));
}

/** Holds a mailbox until it can be read, because its server lacks a required capability. */
export async function recordUnsupported(ctx: Ctx, mailboxId: string, reason: Message): Promise<void> {
  await transact(ctx, (tx) => holdMailbox(tx, mailboxId, { code: 'imap_unsupported', reason, until: null }));
}

/**
 * Holds the mailbox after the server refused the sign-in. The mailbox must not send while replies and bounces cannot be
 * read.
 */
export async function recordRefusedSignIn(ctx: Ctx, mailboxId: string, reason: Message, holdMs: number): Promise<void> {
  await transact(ctx, (tx) =>
    holdMailbox(tx, mailboxId, {
      code: 'imap_auth_failed',
      reason,
      until: new Date(tx.now.getTime() + holdMs),
    }),
  );
}

/** Reading progress of one folder of a mailbox, as shown to people. */
interface FolderState extends Columns<
  'mailbox_sync',
  'folder' | 'last_uid' | 'last_synced_at' | 'failures' | 'retry_at' | 'last_error'
> {}

/**
 * Returns the reading progress of a mailbox by folder. Also returns the number of messages that could not be read and
 * will be tried again.
 * @throws AppError not_found
 */
export async function readSyncState(
  ctx: Ctx,
  mailboxId: string,
): Promise<{ folders: FolderState[]; deferred: number }> {
  const org = reader(ctx);
  const mailbox = await findMailbox(org, mailboxId);
  const folders = await org.sql<FolderState>(
    `select folder, last_uid, last_synced_at, failures, retry_at, last_error from mailbox_sync
     where organization_id = :org and mailbox_id = :mailbox order by folder`,
    { mailbox: mailbox.id },
  );
  const [waiting] = await org.sql<{ count: number }>(
    `select count(*)::int as count from inbound_messages
     where organization_id = :org and mailbox_id = :mailbox and retry_at is not null`,
    { mailbox: mailbox.id },
  );
  return { folders, deferred: waiting!.count };
}
