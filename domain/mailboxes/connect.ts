import { changed, created, secretChanged } from '../platform/changes.ts';
import { json } from '../../db/connection.ts';
import { Mailboxes, type MailboxRow } from '../../db/models/mailbox.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { assertMailboxAllowed } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { assertOwnWorkspaceStays } from '../platform/workspace-deletion.ts';
import {
  openPasswords,
  sealConsent,
  sealTokens,
  type MailboxTokens,
  type MailService,
} from '../sending/senders/mailbox-credentials.ts';
import type { ConsentProvider } from '../sending/senders/mail-providers.ts';
import type { SendAsAddress } from '../../db/json-columns.ts';
import { assertRoom, lockAllowance } from './allowance.ts';
import { assertServersWork, recordFacts, type ServerFacts } from './check.ts';
import { clearHold } from '../sending/control/mailbox-hold.ts';
import { view, type MailboxView } from './read.ts';
import { notifySync } from './sync-state.ts';
import { SEAL_PLACES } from '../../lib/seal-places.ts';
import { TEST_HOST } from '../../lib/smtp/index.ts';
import { isTestWorkspace } from '../platform/test-workspace.ts';
import { message } from '../../messages/index.ts';

/** A mail service with its password, as in the request. */
export type MailServiceInput = MailService & { password: string };

/** Input of POST /emails. `email` is lower-case. */
export interface ConnectInput {
  email: string;
  name: string;
  smtp: MailServiceInput;
  imap: MailServiceInput;
  campaign_limit?: number | undefined;
  min_wait_time?: number | undefined;
}

/** A mailbox connected by OAuth consent. `email` is lower-case. */
interface ConsentedMailbox {
  email: string;
  provider: ConsentProvider;
  smtp: MailService;
  imap: MailService;
  tokens: MailboxTokens;
  accessExpiresAt: Date;
  /** Addresses from which the mailbox may send. Null if the provider has no such list. */
  sendAs: SendAsAddress[] | null;
}

/** Data of a new connection, which uses passwords or OAuth consent. */
interface Connection {
  email: string;
  provider: MailboxRow['provider'];
  /** Sender name. If absent, the stored name is kept, and a new mailbox gets an empty name. */
  name?: string;
  campaign_limit?: number | undefined;
  min_wait_time?: number | undefined;
  /** Returns the columns of servers and credentials. */
  services: (mailboxId: string) => Pick<MailboxRow, 'smtp' | 'imap' | 'credentials'>;
  tokens?: Pick<ConsentedMailbox, 'tokens' | 'accessExpiresAt' | 'sendAs'>;
}

/**
 * Runs the checks before a mailbox is connected: a new mailbox must not exceed the allowance, and the servers must
 * accept the credentials. Runs before the transaction, because it waits for the network. Returns facts about the
 * servers; undefined in a test workspace, where no server is queried.
 * @throws AppError mailbox_allowance_reached, mailbox_auth_failed, service_unavailable, forbidden
 */
export async function prepareConnect(ctx: Ctx, input: ConnectInput): Promise<ServerFacts | undefined> {
  const known = await reader(ctx).query(Mailboxes).findOne({ email: input.email });
  assertMayConnect(ctx, known);
  if (!known) await assertRoom(reader(ctx));
  if (await isTestWorkspace(reader(ctx))) return undefined;
  return assertServersWork(ctx, { smtp: input.smtp, imap: input.imap });
}

/**
 * Connects a mailbox whose credentials were checked. If the address is already connected, replaces its credentials,
 * which uses no allowance, keeps settings and history, and lifts a hold.
 * @param facts result of {@link prepareConnect}, recorded with the mailbox
 * @throws AppError mailbox_allowance_reached, forbidden
 */
export async function connectMailbox(ctx: Ctx, input: ConnectInput, facts?: ServerFacts): Promise<MailboxView> {
  return transact(ctx, async (tx) => {
    const connected = await connect(ctx, tx, {
      ...input,
      provider: 'smtp_imap',
      services: (id) => servicesOf(ctx, id, input),
    });
    if (facts) await recordFacts(tx, connected.mailbox.id, facts);
    return connected;
  });
}

/**
 * Connects a mailbox by OAuth consent, by the same rules as {@link connectMailbox}. Refuses a workspace whose deletion
 * was scheduled after the consent had started.
 * @throws AppError mailbox_allowance_reached, forbidden, workspace_deletion_scheduled
 */
export async function connectConsented(
  ctx: Ctx,
  tx: Tx,
  { email, provider, smtp, imap, ...tokens }: ConsentedMailbox,
): Promise<MailboxView> {
  await assertOwnWorkspaceStays(tx);
  return connect(ctx, tx, {
    email,
    provider,
    services: (id) => ({ smtp, imap, credentials: sealConsent(ctx.keyring, id) }),
    tokens,
  });
}

/**
 * Connects an ordered and paid mailbox with the credentials from its provider. Does not check the allowance, because
 * the order has checked it.
 */
export async function connectOrdered(ctx: Ctx, tx: Tx, input: ConnectInput): Promise<MailboxView> {
  return connect(
    ctx,
    tx,
    { ...input, provider: 'smtp_imap', services: (id) => servicesOf(ctx, id, input) },
    { counted: true },
  );
}

async function connect(
  ctx: Ctx,
  tx: Tx,
  connection: Connection,
  { counted = false }: { counted?: boolean } = {},
): Promise<MailboxView> {
  await lockAllowance(tx);
  const known = await tx.org.query(Mailboxes).findOne({ email: connection.email }).forUpdate();
  assertMayConnect(ctx, known);
  if (!known && !counted) await assertRoom(tx.org);
  const mailbox = known ? await reconnect(ctx, tx, known, connection) : await create(ctx, tx, connection);
  await storeTokens(ctx, tx, mailbox.id, connection.tokens);
  notifySync(tx);
  tx.emit('email_account.connected', {
    email_account_id: mailbox.id,
    email: mailbox.email,
    provider: mailbox.provider,
    reconnected: known !== undefined,
  });
  return (await view(tx.org, [mailbox]))[0]!;
}

/**
 * Refuses a caller whose key is restricted to other mailboxes. A restricted key may renew credentials of its mailboxes,
 * but not add mailboxes.
 */
export function assertMayConnect(ctx: Ctx, known: MailboxRow | undefined): void {
  if (known) return assertMailboxAllowed(ctx.actor, known.id);
  if (ctx.actor.allowedMailboxes) {
    throw new AppError('forbidden', message('mailboxes.key_restricted'), {
      fix: message('access.every_mailbox.fix'),
    });
  }
}

async function create(ctx: Ctx, tx: Tx, connection: Connection): Promise<MailboxRow> {
  const id = newId();
  const mailbox = await tx.org.create(Mailboxes, {
    id,
    user_id: ctx.actor.userId,
    email: connection.email,
    provider: connection.provider,
    name: connection.name ?? '',
    ...(await storedServices(ctx, tx, id, connection.services(id))),
    ...limitsOf(connection),
    created_at: tx.now,
    updated_at: tx.now,
  });
  await tx.org.insert('mailbox_sync', { mailbox_id: id });
  tx.audit({
    action: 'create',
    entityType: 'email_account',
    entityId: id,
    changes: created({ email: mailbox.email, provider: mailbox.provider }),
  });
  return mailbox;
}

async function reconnect(ctx: Ctx, tx: Tx, known: MailboxRow, connection: Connection): Promise<MailboxRow> {
  await replaceServices(tx, known, await storedServices(ctx, tx, known.id, connection.services(known.id)));
  await tx.org
    .query(Mailboxes)
    .findById(known.id)
    .patch({
      status: 'active',
      provider: connection.provider,
      ...(connection.name === undefined ? {} : { name: connection.name }),
      // Clears the send-as address for other providers, because only Google allows a mailbox to send from another
      // address.
      ...(connection.provider === 'gmail' ? {} : { send_as_email: '' }),
      updated_at: tx.now,
      ...limitsOf(connection),
    } as never);
  tx.audit({
    action: 'update',
    entityType: 'email_account',
    entityId: known.id,
    changes: {
      ...secretChanged('credentials'),
      ...changed(known, { status: 'active', provider: connection.provider }),
    },
  });
  return (await tx.org.query(Mailboxes).findById(known.id))!;
}

function limitsOf({ campaign_limit: limit, min_wait_time: wait }: Connection) {
  return {
    ...(limit === undefined ? {} : { campaign_limit: limit }),
    ...(wait === undefined ? {} : { min_wait_time: wait }),
  };
}

/** Stores the tokens of a consent, and deletes the tokens of an earlier one. */
async function storeTokens(ctx: Ctx, tx: Tx, mailboxId: string, given: Connection['tokens']): Promise<void> {
  await tx.org.table('mailbox_tokens').where({ mailbox_id: mailboxId }).delete();
  if (!given) return;
  await tx.org.insert('mailbox_tokens', {
    mailbox_id: mailboxId,
    sealed: sealTokens(ctx.keyring, mailboxId, given.tokens),
    access_expires_at: given.accessExpiresAt,
    refreshed_at: tx.now,
    send_as: json(given.sendAs ?? []),
    send_as_synced_at: given.sendAs && tx.now,
  });
}

/**
 * Stores new servers or passwords, which were checked, for a mailbox that uses passwords; see {@link replaceServices}.
 */
export async function storeServices(
  ctx: Ctx,
  tx: Tx,
  mailbox: MailboxRow,
  input: { smtp?: MailServiceInput | undefined; imap?: MailServiceInput | undefined },
): Promise<void> {
  const stored = openPasswords(ctx.keyring, mailbox);
  if (!stored) throw new Error('a mailbox that was connected by consent has no passwords');
  const { smtp = { ...mailbox.smtp, password: stored.smtp_password } } = input;
  const imap = input.imap ?? (mailbox.imap && { ...mailbox.imap, password: stored.imap_password });
  await replaceServices(
    tx,
    mailbox,
    await storedServices(ctx, tx, mailbox.id, servicesOf(ctx, mailbox.id, { smtp, imap })),
  );
}

/**
 * Replaces the servers or credentials of a mailbox. Connections with the old credentials are closed, and holds end. If
 * the IMAP server is a different one, only messages that arrive from now on are read.
 */
async function replaceServices(
  tx: Tx,
  mailbox: MailboxRow,
  services: ReturnType<Connection['services']>,
): Promise<void> {
  await tx.org
    .query(Mailboxes)
    .findById(mailbox.id)
    .patch({ ...services, credentials_version: mailbox.credentials_version + 1, updated_at: tx.now } as never);
  await clearHold(tx, mailbox.id);
  const { imap } = services;
  if (!imap) return;
  const moved = imap.host !== mailbox.imap?.host || imap.username !== mailbox.imap?.username;
  await tx.org.insert('mailbox_sync', { mailbox_id: mailbox.id }).onConflict(['mailbox_id', 'folder']).ignore();
  await tx.org
    .table('mailbox_sync')
    .where({ mailbox_id: mailbox.id })
    .update({
      failures: 0,
      retry_at: null,
      ...(moved ? { uid_validity: null, last_uid: 0, last_synced_at: tx.now } : {}),
    });
}

function servicesOf(
  ctx: Ctx,
  mailboxId: string,
  { smtp, imap }: { smtp: MailServiceInput; imap: MailServiceInput | null },
): ReturnType<Connection['services']> {
  const passwords = { smtp_password: smtp.password, imap_password: imap?.password ?? '' };
  return {
    smtp: withoutPassword(smtp),
    imap: imap && withoutPassword(imap),
    credentials: ctx.keyring.seal(JSON.stringify(passwords), SEAL_PLACES.mailbox(mailboxId)),
  };
}

/**
 * Returns the columns of servers and credentials as they are stored. For a mailbox of a test workspace they are empty.
 */
async function storedServices(
  ctx: Ctx,
  tx: Tx,
  mailboxId: string,
  services: ReturnType<Connection['services']>,
): Promise<ReturnType<Connection['services']> & Pick<MailboxRow, 'is_test'>> {
  if (!(await isTestWorkspace(tx.org))) return { ...services, is_test: false };
  const smtp = { host: TEST_HOST, port: 0, username: '', password: '', security: 'none' } as const;
  return { ...servicesOf(ctx, mailboxId, { smtp, imap: null }), is_test: true };
}

function withoutPassword({ host, port, username, security }: MailService): MailService {
  return { host, port, username, security };
}
