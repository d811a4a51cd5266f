import type { SendAsAddress } from '../../db/json-columns.ts';
import { json } from '../../db/connection.ts';
import type { MailboxRow } from '../../db/models/mailbox.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { AppError } from '../../lib/errors.ts';
import type { Egress } from '../../lib/egress/index.ts';
import { ensureAccess } from '../sending/control/access-token.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { singleStatement, reader, transact } from '../platform/kernel/transact.ts';
import { changed } from '../platform/changes.ts';
import { findMailbox } from './read.ts';
import { configuredProvider, type MailProvider } from '../sending/senders/mail-providers.ts';
import { openTokens } from '../sending/senders/mailbox-credentials.ts';
import { message } from '../../messages/index.ts';

const REQUEST_MS = 10_000;
const MAX_ANSWER_BYTES = 512 * 1024;
const MAX_ADDRESSES = 200;

/**
 * Requests the addresses from which a mailbox may send from the provider. Returns null if the provider has no such
 * list.
 * @throws Error when the request fails
 */
export async function fetchSendAs(
  egress: Egress,
  provider: MailProvider,
  accessToken: string,
): Promise<SendAsAddress[] | null> {
  if (!provider.sendAs) return null;
  const { status, body } = await egress.request({
    method: 'GET',
    url: provider.sendAs,
    headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json' },
    timeoutMs: REQUEST_MS,
    maxResponseBytes: MAX_ANSWER_BYTES,
  });
  if (status !== 200) throw new Error(`the provider answered ${status} for the addresses to send as`);
  const { sendAs = [] } = JSON.parse(body.toString('utf8')) as { sendAs?: Record<string, unknown>[] };
  return sendAs.slice(0, MAX_ADDRESSES).flatMap((entry) => {
    const email = typeof entry.sendAsEmail === 'string' ? entry.sendAsEmail.toLowerCase() : '';
    if (!/^[^\s@]+@[^\s@]+$/.test(email)) return [];
    const isPrimary = entry.isPrimary === true;
    return {
      email,
      name: typeof entry.displayName === 'string' ? entry.displayName.slice(0, 200) : '',
      isPrimary,
      isDefault: entry.isDefault === true,
      // The mailbox's own address has no status and needs no verification.
      verified: isPrimary || entry.verificationStatus === 'accepted',
    };
  });
}

/**
 * Reloads a mailbox's send-as addresses if the chosen one is not in the stored list, because it may have just been
 * verified. Runs before the transaction. Keeps the stored list when the provider does not respond.
 */
export async function refreshSendAs(ctx: Ctx, mailbox: MailboxRow, chosen: string): Promise<void> {
  const provider = providerOf(ctx, mailbox);
  if (!provider || chosen === mailbox.email || (await isVerified(reader(ctx), mailbox.id, chosen))) return;
  await storeSendAs(ctx, mailbox, provider);
}

/** Returns the provider of a mailbox if it offers send-as addresses. Otherwise returns undefined. */
function providerOf(ctx: Ctx, { provider }: MailboxRow): MailProvider | undefined {
  const found = provider === 'smtp_imap' ? undefined : configuredProvider(ctx.config, provider);
  return found?.sendAs ? found : undefined;
}

/** Reads the addresses from the provider and stores them. Returns false if the request failed. */
async function storeSendAs(ctx: Ctx, mailbox: MailboxRow, provider: MailProvider): Promise<boolean> {
  const access = await ensureAccess(ctx, mailbox.id);
  const row = await reader(ctx).table('mailbox_tokens').where({ mailbox_id: mailbox.id }).first('sealed');
  if (access.kind !== 'valid' || !row) return false;
  try {
    const { access_token: accessToken } = openTokens(ctx.keyring, mailbox.id, row.sealed);
    const addresses = await fetchSendAs(ctx.egress, provider, accessToken);
    await singleStatement(ctx).sql(
      `update mailbox_tokens set send_as = :addresses, send_as_synced_at = :now where organization_id = :org and mailbox_id = :mailbox`,
      { mailbox: mailbox.id, addresses: json(addresses ?? []), now: ctx.clock.now() },
    );
    return true;
  } catch (error) {
    ctx.log.warn({ err: error, mailboxId: mailbox.id }, 'the addresses to send as could not be read');
    return false;
  }
}

/** Addresses from which the mailbox may send, and the chosen one. */
export interface SendIdentity {
  mailbox: MailboxRow;
  supported: boolean;
  identities: readonly SendAsAddress[];
  syncedAt: Date | null;
}

/** Returns the stored addresses from which a mailbox may send. Sends no request to the provider. */
export async function readIdentity(ctx: Ctx, mailboxId: string): Promise<SendIdentity> {
  const org = reader(ctx);
  const mailbox = await findMailbox(org, mailboxId);
  const row = await org.table('mailbox_tokens').where({ mailbox_id: mailbox.id }).first('send_as', 'send_as_synced_at');
  return {
    mailbox,
    supported: mailbox.provider === 'gmail',
    identities: row?.send_as ?? [],
    syncedAt: row?.send_as_synced_at ?? null,
  };
}

/**
 * Reads the addresses of a mailbox from its provider again, and clears a chosen address that is no longer verified.
 * @throws AppError not_found; mailbox_send_as_unsupported; mailbox_identity_unavailable when the provider
 * did not answer
 */
export async function refreshIdentity(ctx: Ctx, mailboxId: string): Promise<SendIdentity> {
  const mailbox = await findMailbox(reader(ctx), mailboxId);
  const provider = providerOf(ctx, mailbox);
  if (!provider)
    throw new AppError('mailbox_send_as_unsupported', message('mailboxes.send_as_unsupported'), {
      fix: message('mailboxes.send_as_unsupported.fix'),
    });
  if (!(await storeSendAs(ctx, mailbox, provider)))
    throw new AppError('mailbox_identity_unavailable', message('mailboxes.send_as_unread'), {
      fix: message('mailboxes.send_as_unread.fix'),
    });
  const chosen = mailbox.send_as_email;
  if (chosen !== '' && chosen !== mailbox.email && !(await isVerified(reader(ctx), mailbox.id, chosen)))
    await transact(ctx, async (tx) => {
      await tx.org
        .table('mailboxes')
        .where({ id: mailbox.id, send_as_email: chosen })
        .update({ send_as_email: '', updated_at: tx.now });
      tx.audit({
        action: 'update',
        entityType: 'email_account',
        entityId: mailbox.id,
        changes: changed({ send_as_email: chosen }, { send_as_email: '' }),
      });
    });
  return readIdentity(ctx, mailboxId);
}

/**
 * Refuses an address from which a mailbox may not send. The mailbox's own address and an empty one are always allowed.
 * @throws AppError mailbox_send_as_unsupported, mailbox_send_as_unknown
 */
export async function assertSendAs(org: OrgScope, mailbox: MailboxRow, sendAs: string | undefined): Promise<void> {
  if (!sendAs) return;
  if (mailbox.provider !== 'gmail') {
    throw new AppError('mailbox_send_as_unsupported', message('mailboxes.send_as_unsupported'), {
      problems: [{ path: 'body.send_as_email', message: message('mailboxes.send_as_unsupported.problem') }],
      fix: message('mailboxes.send_as_unsupported.fix'),
    });
  }
  if (sendAs === mailbox.email || (await isVerified(org, mailbox.id, sendAs))) return;
  throw new AppError('mailbox_send_as_unknown', message('mailboxes.send_as_unknown'), {
    problems: [{ path: 'body.send_as_email', message: message('mailboxes.send_as_unknown.problem') }],
    fix: message('mailboxes.send_as_unknown.fix'),
  });
}

async function isVerified(org: OrgScope, mailboxId: string, address: string): Promise<boolean> {
  const row = await org.table('mailbox_tokens').where({ mailbox_id: mailboxId }).first('send_as');
  return (row?.send_as ?? []).some(({ email, verified }) => verified && email === address);
}
