import { newId } from '../../lib/ids.ts';
import type { Tx } from '../kernel/transact.ts';
import { releaseReservedSends } from '../sending/release.ts';

/** Why a mailbox rests. `until` null is until a person does something. */
export interface MailboxHold {
  code: HoldCode;
  reason: string;
  until: Date | null;
}

/** Refused sign-in to SMTP or IMAP, and a server that refuses the mailbox as sender. */
export type HoldCode = 'auth_failed' | 'imap_auth_failed' | 'sender_refused';

/** How long (ms) a mailbox whose sign-in is refused rests before it is tried again by itself. */
export const AUTH_HOLD_MS = 6 * 3600_000;

const TITLES: Record<HoldCode, string> = {
  auth_failed: 'The SMTP server refuses the sign-in',
  imap_auth_failed: 'The IMAP server refuses the sign-in',
  sender_refused: 'The SMTP server refuses the mailbox as sender',
};

/**
 * Stops a mailbox from sending without changing its status: reserved slots go back, people are told once. A later hold
 * takes the place of an earlier one. The contacts' runs ask for another slot when theirs comes.
 */
export async function holdMailbox(tx: Tx, mailboxId: string, hold: MailboxHold): Promise<void> {
  const reason = hold.reason.slice(0, 500);
  // Sends before mailboxes, the order in which every writer takes them. A slot given out in between is refused by its claim.
  await releaseReservedSends(tx, { mailboxId });
  const [mailbox] = await tx.org.sql<{ email: string }>(
    `update mailboxes set hold_code = :code, hold_reason = :reason, hold_until = :until, updated_at = :now
     where organization_id = :org and id = :id returning email`,
    { id: mailboxId, code: hold.code, reason, until: hold.until, now: tx.now },
  );
  if (!mailbox) return;
  const error = { error_code: hold.code, title: TITLES[hold.code], message: reason };
  const known = await tx.org.table('mailbox_errors').where({ mailbox_id: mailboxId, error_code: hold.code }).whereNull('resolved_at').first('id');
  if (known) return;
  await tx.org.insert('mailbox_errors', { id: newId(), mailbox_id: mailboxId, severity: 'error', ...error, created_at: tx.now });
  tx.emit('email_account.error', { email_account_id: mailboxId, email: mailbox.email, ...error });
}

/** Lifts a hold and settles its error; with `code`, only a hold of that kind. Returns whether there was one. */
export async function clearHold(tx: Tx, mailboxId: string, code: HoldCode | null = null): Promise<boolean> {
  const rows = await tx.org.sql(
    `update mailboxes set hold_code = null, hold_reason = null, hold_until = null, updated_at = :now
     where organization_id = :org and id = :id and hold_code is not null and (:code::text is null or hold_code = :code) returning id`,
    { id: mailboxId, code, now: tx.now },
  );
  await tx.org.sql(
    `update mailbox_errors set resolved_at = :now
     where organization_id = :org and mailbox_id = :id and resolved_at is null and (:code::text is null or error_code = :code)`,
    { id: mailboxId, code, now: tx.now },
  );
  return rows.length > 0;
}
