import { changed, deleted, secretChanged } from '../platform/changes.ts';
import { Mailboxes, type MailboxRow } from '../../db/models/mailbox.ts';
import type { OrgScope } from '../../db/tenancy.ts';
import { AppError, refuseProblems, type Problem } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../platform/kernel/transact.ts';
import { assertUnchanged } from '../platform/assert-unchanged.ts';
import { existingIds, unknownIdProblems } from '../platform/references.ts';
import { detachMailbox, releaseReservedSends } from '../sending/control/release.ts';
import { assertMayChangeEmails } from '../approvals/may-change-leads.ts';
import { isTestWorkspace } from '../platform/test-workspace.ts';
import { assertServersWork, recordFacts, type ServerFacts } from './check.ts';
import { storeServices, type MailServiceInput } from './connect.ts';
import { clearHold } from '../sending/control/mailbox-hold.ts';
import { announcePoolChange, findCampaignsOfSender } from '../sending/control/pool-change.ts';
import { findMailbox, getMailbox, type MailboxDetail } from './read.ts';
import { recordRevocation } from './revoke.ts';
import { assertSendAs, refreshSendAs } from './send-as.ts';
import { notifySync } from './sync-state.ts';
import { message } from '../../messages/index.ts';

/** Input of PATCH /emails/:id. Absent fields are kept. Server settings always include the password. */
export interface MailboxEdit {
  name?: string | undefined;
  status?: MailboxRow['status'] | undefined;
  campaign_limit?: number | undefined;
  min_wait_time?: number | undefined;
  reply_to?: string | undefined;
  save_to_sent?: boolean | undefined;
  send_as_email?: string | undefined;
  signature_plain?: string | undefined;
  signature_html?: string | undefined;
  signature_sync?: boolean | undefined;
  signature_code?: boolean | undefined;
  warmup_base?: number | undefined;
  warmup_max?: number | undefined;
  warmup_increase?: number | undefined;
  warmup_reply_rate?: number | undefined;
  warmup_tag?: string | undefined;
  warmup_start_time?: string | undefined;
  warmup_end_time?: string | undefined;
  warmup_days?: number | undefined;
  tags?: string[] | undefined;
  smtp?: MailServiceInput | undefined;
  imap?: MailServiceInput | undefined;
}

/** Options of an update, which are not fields of the mailbox. */
export interface UpdateOptions {
  expectedUpdatedAt?: Date | undefined;
  facts?: ServerFacts | null;
}

/** Fields that recipients see, or that determine where their replies go. */
const SEEN = ['name', 'reply_to', 'send_as_email', 'signature_plain', 'signature_html'] as const;

/**
 * Checks changed servers in the same way as for a new mailbox. Runs before the transaction. Returns facts about the
 * servers, or null if no server was checked.
 * @throws AppError not_found, mailbox_auth_failed, mailbox_provider_requires_oauth, service_unavailable
 */
export async function prepareUpdate(
  ctx: Ctx,
  id: string,
  { smtp, imap, send_as_email: sendAs }: MailboxEdit,
): Promise<ServerFacts | null> {
  const mailbox = await findMailbox(reader(ctx), id);
  if (sendAs) await refreshSendAs(ctx, mailbox, sendAs);
  if (!smtp && !imap) return null;
  if (mailbox.provider !== 'smtp_imap') {
    throw new AppError('mailbox_provider_requires_oauth', message('mailboxes.servers_of_provider'), {
      fix: message('mailboxes.servers_of_provider.fix'),
    });
  }
  if (await isTestWorkspace(reader(ctx))) return null;
  return assertServersWork(ctx, { smtp: smtp ?? null, imap: imap ?? null });
}

/**
 * Changes a mailbox. Switching it off or removing a tag releases its reserved slots. Enabling it or setting new servers
 * ends a hold.
 * @param options.expectedUpdatedAt the `updated_at` that the caller has seen
 * @param options.facts result of {@link prepareUpdate}, recorded with the mailbox
 * @throws AppError not_found, bad_request (unknown tags), mailbox_send_as_unsupported, mailbox_send_as_unknown,
 * conflict when `updated_at` has changed; forbidden as in {@link assertMayChangeEmails}
 */
export async function updateMailbox(
  ctx: Ctx,
  id: string,
  edit: MailboxEdit,
  { expectedUpdatedAt, facts }: UpdateOptions = {},
): Promise<MailboxDetail> {
  await transact(ctx, async (tx) => {
    const { status, tags, smtp, imap, ...settings } = edit;
    const before = await findMailbox(tx.org, id);
    await assertSendAs(tx.org, before, settings.send_as_email);
    // Releases the slots first, because all writers lock sends before mailboxes. Without a removed tag, the mailbox may
    // leave sender pools for which it has reserved slots.
    if ((status && status !== 'active') || (tags && (await losesTag(tx, id, tags))))
      await releaseReservedSends(tx, { mailboxId: id });
    const senderOf = await findCampaignsOfSender(tx, id);
    const isSeen = SEEN.some((field) => settings[field] !== undefined && settings[field] !== before[field]);
    // Recipients may notice a different server, but not a new password.
    const isElsewhere = smtp !== undefined && smtp.host !== before.smtp.host;
    if ((isSeen || isElsewhere) && senderOf.some(({ active }) => active)) await assertMayChangeEmails(tx, [id]);
    const mailbox = await findMailbox(tx.org, id, 'for update');
    assertUnchanged('mailbox', mailbox.updated_at, expectedUpdatedAt);
    const changes = changed(mailbox, { ...settings, ...(status ? { status } : {}) });
    if (Object.keys(changes).length > 0 || tags || smtp || imap) {
      await tx.org
        .query(Mailboxes)
        .findById(id)
        .patch({ ...settings, ...(status ? { status } : {}), updated_at: tx.now } as never);
    }
    if (tags) await replaceTags(tx, id, tags);
    if (smtp || imap) await storeServices(ctx, tx, mailbox, { smtp, imap });
    if (facts) await recordFacts(tx, id, facts);
    if (status === 'active') await clearHold(tx, id);
    await signalCampaigns(tx, mailbox, status, tags !== undefined, senderOf);
    if (maySendMore(mailbox, settings)) await announcePoolChange(tx, id, senderOf, null);
    announceStatus(tx, mailbox, status);
    notifySync(tx);
    tx.audit({
      action: 'update',
      entityType: 'email_account',
      entityId: id,
      changes: { ...changes, ...(smtp || imap ? secretChanged('credentials') : {}) },
      ...(tags ? { metadata: { tags } } : {}),
    });
  });
  return getMailbox(ctx, id);
}

/**
 * Removes a mailbox with its data. Keeps the records of sent emails. An OAuth consent is revoked at its provider later.
 * An email that a worker has already claimed is still sent. A process that reads the mailbox stops when it next extends
 * its lease.
 * @throws AppError not_found
 */
export async function removeMailbox(ctx: Ctx, id: string): Promise<void> {
  await transact(ctx, async (tx) => {
    await findMailbox(tx.org, id);
    await detachMailbox(tx, id);
    const senderOf = await findCampaignsOfSender(tx, id);
    const mailbox = await findMailbox(tx.org, id, 'for update');
    await recordRevocation(tx, mailbox);
    await tx.org.query(Mailboxes).deleteById(id);
    await announcePoolChange(tx, id, senderOf, { type: 'sender_removed', message: message('log.mailbox_removed') });
    notifySync(tx);
    tx.emit('email_account.removed', { email_account_id: id, email: mailbox.email, provider: mailbox.provider });
    tx.audit({
      action: 'delete',
      entityType: 'email_account',
      entityId: id,
      changes: deleted({ email: mailbox.email }),
    });
  });
}

/**
 * Signals campaigns whose sender pool the mailbox has joined or left by the change. The end of a hold has already been
 * signalled.
 */
async function signalCampaigns(
  tx: Tx,
  before: MailboxRow,
  status: MailboxRow['status'] | undefined,
  retagged: boolean,
  senderOf: Awaited<ReturnType<typeof findCampaignsOfSender>>,
): Promise<void> {
  const wasActive = before.status === 'active';
  const isActive = (status ?? before.status) === 'active';
  if (wasActive === isActive && !retagged) return;
  const now = isActive ? await findCampaignsOfSender(tx, before.id) : [];
  const then = wasActive ? senderOf : [];
  const left = then.filter(({ id }) => !now.some((one) => one.id === id));
  const joined = now.filter(({ id }) => !then.some((one) => one.id === id));
  // Checks the permission to change the campaigns' emails, as for a mailbox that is named as sender: here the mailbox
  // joins their sender pool by a tag.
  if (retagged && joined.some(({ active }) => active)) await assertMayChangeEmails(tx, [before.id]);
  await announcePoolChange(tx, before.id, left, { type: 'sender_removed', message: message('log.mailbox_left_pool') });
  await announcePoolChange(tx, before.id, joined, { type: 'sender_back', message: message('log.mailbox_joined_pool') });
}

/** Returns true if an edit raises the limit or shortens the gap, so that postponed emails may be sent earlier. */
function maySendMore(before: MailboxRow, { campaign_limit: limit, min_wait_time: gap }: MailboxEdit): boolean {
  return (
    (limit ?? before.campaign_limit) > before.campaign_limit || (gap ?? before.min_wait_time) < before.min_wait_time
  );
}

function announceStatus(tx: Tx, mailbox: MailboxRow, status: MailboxRow['status'] | undefined): void {
  if (!status || status === mailbox.status) return;
  const data = { email_account_id: mailbox.id, email: mailbox.email, provider: mailbox.provider };
  if (status === 'active') tx.emit('email_account.connected', { ...data, reconnected: true });
  else if (mailbox.status === 'active') tx.emit('email_account.disconnected', { ...data, status });
}

/** Returns true if a mailbox has a tag that is not in the new list. */
async function losesTag(tx: Tx, mailboxId: string, tags: readonly string[]): Promise<boolean> {
  const lost = await tx.org
    .table('mailbox_tags')
    .where({ mailbox_id: mailboxId })
    .whereNotIn('label_id', tags.filter(isUuid))
    .first('label_id');
  return lost !== undefined;
}

/** Replaces the tags of a mailbox. @throws AppError bad_request listing the ids that are not tags of the workspace */
async function replaceTags(tx: Tx, mailboxId: string, tags: readonly string[]): Promise<void> {
  refuseProblems(await tagProblems(tx.org, tags));
  const ids = new Set(tags.map((tag) => tag.toLowerCase()));
  await tx.org.table('mailbox_tags').where({ mailbox_id: mailboxId }).delete();
  if (ids.size > 0)
    await tx.org.insert(
      'mailbox_tags',
      [...ids].map((id) => ({ mailbox_id: mailboxId, label_id: id })),
    );
}

/** Returns a problem for each id that is not a tag of the workspace. */
export async function tagProblems(org: OrgScope, tags: readonly string[]): Promise<Problem[]> {
  const known = await existingIds(org, 'labels', tags, { registry: 'tag' });
  return unknownIdProblems(tags, known, (index) => `body.tags.${index}`, message('campaigns.unknown_tag'));
}
