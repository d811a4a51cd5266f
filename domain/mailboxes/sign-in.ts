import type { MailboxRow } from '../../db/models/mailbox.ts';
import type { ImapTarget } from '../../lib/imap/index.ts';
import type { SmtpTarget } from '../../lib/smtp/index.ts';
import { ensureAccess, type Access } from '../sending/control/access-token.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader } from '../platform/kernel/transact.ts';
import { imapTargetOf, smtpTargetOf } from '../sending/senders/mailbox-credentials.ts';

/**
 * Data for signing in to a mailbox's servers, or the reason why a mailbox connected by OAuth cannot sign in at present.
 */
type SignIn =
  | { kind: 'ready'; smtp: SmtpTarget; imap: ImapTarget | null; byConsent: boolean }
  | Exclude<Access, { kind: 'valid' }>;

/** Returns the data for signing in to a mailbox's servers. Renews an access token that expires soon. */
export async function readSignIn(ctx: Ctx, mailbox: MailboxRow): Promise<SignIn> {
  const findTokens = () => reader(ctx).table('mailbox_tokens').where({ mailbox_id: mailbox.id }).first('sealed');
  let tokens = (await findTokens())?.sealed ?? null;
  if (tokens) {
    const access = await ensureAccess(ctx, mailbox.id);
    if (access.kind !== 'valid') return access;
    tokens = (await findTokens())?.sealed ?? null;
  }
  const sealed = { ...mailbox, tokens };
  return {
    kind: 'ready',
    smtp: smtpTargetOf(ctx.keyring, sealed),
    imap: imapTargetOf(ctx.keyring, sealed) ?? null,
    byConsent: tokens !== null,
  };
}
