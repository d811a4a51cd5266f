import { Mailboxes, type MailboxRow } from '../../db/models/mailbox.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { assertMailboxAllowed } from '../kernel/actor.ts';
import type { Ctx } from '../kernel/context.ts';
import { reader, transact, type Tx } from '../kernel/transact.ts';
import type { MailService } from '../records/mailbox-credentials.ts';
import { assertRoom, lockAllowance } from './allowance.ts';
import { assertServersWork } from './check.ts';
import { clearHold } from '../engine/control/mailbox-hold.ts';
import { view, type MailboxView } from './read.ts';
import { wakeSync } from './sync-state.ts';
import { SEAL_PLACES } from '../../lib/seal-places.ts';

/** A mail service with its password, as the request gives it. */
export type MailServiceInput = MailService & { password: string };

/** POST /emails. `email` is lower-case. */
export interface ConnectInput {
  email: string;
  name: string;
  smtp: MailServiceInput;
  imap: MailServiceInput;
  campaign_limit?: number | undefined;
  min_wait_time?: number | undefined;
}

/**
 * Checks before a mailbox is connected: room in the allowance, unless it is connected already, and servers that accept
 * the credentials. Runs before the transaction, as it waits for the network.
 * @throws AppError mailbox_allowance_reached, mailbox_auth_failed, service_unavailable, forbidden
 */
export async function prepareConnect(ctx: Ctx, input: ConnectInput): Promise<void> {
  const known = await reader(ctx).query(Mailboxes).findOne({ email: input.email });
  assertMayConnect(ctx, known);
  if (!known) await assertRoom(ctx, reader(ctx));
  await assertServersWork(ctx, { smtp: input.smtp, imap: input.imap });
}

/**
 * Connects a mailbox whose credentials have been dialed, or (known address) gives it new ones: reconnecting never counts
 * against the allowance, keeps settings and history, and lifts a hold (`mailbox_allowance_reached`).
 * @throws AppError mailbox_allowance_reached, forbidden
 */
export async function connectMailbox(ctx: Ctx, input: ConnectInput): Promise<MailboxView> {
  return transact(ctx, async (tx) => {
    await lockAllowance(tx);
    const known = await tx.org.query(Mailboxes).findOne({ email: input.email }).forUpdate();
    assertMayConnect(ctx, known);
    if (!known) await assertRoom(ctx, tx.org);
    const mailbox = known ? await reconnect(ctx, tx, known, input) : await create(ctx, tx, input);
    await wakeSync(tx);
    tx.emit('email_account.connected', {
      email_account_id: mailbox.id,
      email: mailbox.email,
      provider: mailbox.provider,
      reconnected: known !== undefined,
    });
    return (await view(tx.org, [mailbox]))[0]!;
  });
}

/** A key restricted to mailboxes may give them new credentials, but not add others. */
function assertMayConnect(ctx: Ctx, known: MailboxRow | undefined): void {
  if (known) return assertMailboxAllowed(ctx.actor, known.id);
  if (ctx.actor.allowedMailboxes) {
    throw new AppError('forbidden', 'This API key is restricted to certain mailboxes and may not connect another', {
      fix: 'Use a key whose allowed_email_accounts is empty.',
    });
  }
}

async function create(ctx: Ctx, tx: Tx, input: ConnectInput): Promise<MailboxRow> {
  const id = newId();
  const mailbox = await tx.org.create(Mailboxes, {
    id,
    user_id: ctx.actor.userId,
    email: input.email,
    name: input.name,
    ...servicesOf(ctx, id, input),
    ...(input.campaign_limit === undefined ? {} : { campaign_limit: input.campaign_limit }),
    ...(input.min_wait_time === undefined ? {} : { min_wait_time: input.min_wait_time }),
    created_at: tx.now,
    updated_at: tx.now,
  });
  await tx.org.insert('mailbox_sync', { mailbox_id: id });
  tx.audit({
    action: 'create',
    entityType: 'email_account',
    entityId: id,
    changes: { email: mailbox.email, provider: mailbox.provider },
  });
  return mailbox;
}

async function reconnect(ctx: Ctx, tx: Tx, known: MailboxRow, input: ConnectInput): Promise<MailboxRow> {
  await storeServices(ctx, tx, known, input);
  await tx.org
    .query(Mailboxes)
    .findById(known.id)
    .patch({
      status: 'active',
      name: input.name,
      updated_at: tx.now,
      ...(input.campaign_limit === undefined ? {} : { campaign_limit: input.campaign_limit }),
      ...(input.min_wait_time === undefined ? {} : { min_wait_time: input.min_wait_time }),
    } as never);
  tx.audit({
    action: 'update',
    entityType: 'email_account',
    entityId: known.id,
    changes: { credentials: 'changed', ...(known.status === 'active' ? {} : { status: 'active' }) },
  });
  return (await tx.org.query(Mailboxes).findById(known.id))!;
}

/**
 * Gives a mailbox new servers or passwords, which have been dialed: connections with the old ones end, a hold ends,
 * and reading from a new IMAP server starts at the present end of its mail.
 */
export async function storeServices(
  ctx: Ctx,
  tx: Tx,
  mailbox: MailboxRow,
  input: { smtp?: MailServiceInput | undefined; imap?: MailServiceInput | undefined },
): Promise<void> {
  const stored = JSON.parse(
    ctx.keyring.open(mailbox.credentials, SEAL_PLACES.mailbox(mailbox.id)).toString('utf8'),
  ) as Passwords;
  const { smtp = { ...mailbox.smtp, password: stored.smtp_password } } = input;
  const imap = input.imap ?? (mailbox.imap && { ...mailbox.imap, password: stored.imap_password });
  await tx.org
    .query(Mailboxes)
    .findById(mailbox.id)
    .patch({
      ...servicesOf(ctx, mailbox.id, { smtp, imap }),
      credentials_version: mailbox.credentials_version + 1,
      updated_at: tx.now,
    } as never);
  await clearHold(tx, mailbox.id);
  if (input.imap) {
    const moved = input.imap.host !== mailbox.imap?.host || input.imap.username !== mailbox.imap?.username;
    await tx.org.insert('mailbox_sync', { mailbox_id: mailbox.id }).onConflict(['mailbox_id', 'folder']).ignore();
    await tx.org
      .table('mailbox_sync')
      .where({ mailbox_id: mailbox.id })
      .update({
        failures: 0,
        retry_at: null,
        last_error: null,
        ...(moved ? { uid_validity: null, last_uid: 0, last_synced_at: tx.now } : {}),
      });
  }
}

interface Passwords {
  smtp_password: string;
  imap_password: string;
}

function servicesOf(
  ctx: Ctx,
  mailboxId: string,
  { smtp, imap }: { smtp: MailServiceInput; imap: MailServiceInput | null },
) {
  const passwords: Passwords = { smtp_password: smtp.password, imap_password: imap?.password ?? '' };
  return {
    smtp: withoutPassword(smtp),
    imap: imap && withoutPassword(imap),
    credentials: ctx.keyring.seal(JSON.stringify(passwords), SEAL_PLACES.mailbox(mailboxId)),
  };
}

function withoutPassword({ host, port, username, security }: MailService): MailService {
  return { host, port, username, security };
}
