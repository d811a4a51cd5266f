import type { PolicyReason } from '../../db/json-columns.ts';
import type { ApprovalRow } from '../../db/models/approval.ts';
import type { CampaignRow } from '../../db/models/campaign.ts';
import type { Config } from '../../lib/config/index.ts';
import { AppError } from '../../lib/errors.ts';
import { authorizeAction } from './authorize.ts';
import { approveAdded, holdAdded } from '../sending/control/approved-leads.ts';
import { sendersToAllow } from '../sending/campaign/sender-pool.ts';
import { subjectOf } from '../platform/kernel/approval-subjects.ts';
import { isCredential, may, type Actor } from '../platform/kernel/actor.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { message, joined, type Message } from '../../messages/index.ts';

/**
 * Whether the caller may change what a campaign sends while it is active, or to whom. A start of a key or application goes by its policy, and what the
 * policy does not allow is shown to a person before it happens; a change of an active campaign would be shown to nobody. So such a change needs the
 * policy too, and is counted as an action; what the policy does not allow is refused. In any other state
 * of the campaign everything may be prepared: the next start asks.
 * @param campaign locked by the caller, with the senders that it has after the change
 * @throws AppError forbidden, with every reason
 */
export async function assertMayChangeActive(tx: Tx, campaign: CampaignRow): Promise<void> {
  if (!isCredential(tx.actor) || campaign.status !== 'active') return;
  await assertWithinPolicy(tx, campaign, 0);
}

/**
 * {@link assertMayChangeActive} for an email that is tried again, by which a completed campaign starts again.
 * @throws AppError forbidden, with every reason
 */
export async function assertMayReopen(tx: Tx, campaign: CampaignRow): Promise<void> {
  assertMayMail(tx.actor, campaign);
  if (isCredential(tx.actor)) await assertWithinPolicy(tx, campaign, 1);
}

/**
 * Decides about leads that were just added to a locked campaign. Where it sends, or starts again because of them, those that a key or application adds
 * beyond its policy are held until a person approves them; others need no approval. People need a role for campaigns, also where they add a contact and
 * name the campaigns with it.
 * @param leadIds the leads, in no state but pending
 * @returns the approval that the leads wait for; undefined where they need none
 * @throws AppError forbidden for a person whose role is for contacts alone
 */
export async function holdUnlessMayAdd(
  tx: Tx,
  config: Config,
  campaign: CampaignRow,
  leadIds: readonly string[],
): Promise<ApprovalRow | undefined> {
  if (leadIds.length === 0) return undefined;
  assertMayMail(tx.actor, campaign);
  if (!sendsToNewLeads(campaign)) return undefined;
  const authorization = await authorizeAction(tx, tx.actor, {
    capability: 'campaign.launch',
    mailboxIds: isCredential(tx.actor) ? await sendersToAllow(tx.org, campaign) : [],
    recipients: leadIds.length,
  });
  if (authorization.decision === 'execute') {
    if (campaign.approval_id) await approveAdded(tx, campaign, leadIds);
    return undefined;
  }
  const { reasons } = authorization;
  await holdAdded(tx, campaign.id, leadIds, message('leads.wait_for_approval', { reasons: sentences(reasons) }));
  return subjectOf(tx, 'campaign_leads').ask!(tx, campaign, { requester: tx.actor, reasons }, config);
}

/** Whether leads that are added are sent to without a further start. */
function sendsToNewLeads({ status }: Pick<CampaignRow, 'status'>): boolean {
  return status === 'active' || status === 'completed';
}

/**
 * Refuses people whose role is for contacts alone to have them mailed.
 * @throws AppError forbidden
 */
export function assertMayMail(actor: Actor, campaign: Pick<CampaignRow, 'status'>): void {
  if (actor.kind !== 'session' || !sendsToNewLeads(campaign)) return;
  if (may(actor, [], ['manage_campaigns', 'send_campaigns'])) return;
  throw new AppError('forbidden', message('leads.role'), {
    fix: message('leads.role.fix'),
  });
}

/**
 * A key or application imports no file into a campaign that sends, or starts again with new leads: how many people a file leads to is known only
 * when it has been read, after the policy was asked. An import that was begun before the start stops at its next page: whoever approved the start has
 * seen the leads of that moment, and no others are sent to.
 * @param campaign locked by the caller where leads are added
 * @param options.byCredential whether a key or application asked for the import
 * @throws AppError forbidden
 */
export function assertMayImportInto(campaign: CampaignRow, { byCredential }: { byCredential: boolean }): void {
  if (!byCredential || !sendsToNewLeads(campaign)) return;
  throw new AppError('forbidden', message('leads.import_by_credential'), {
    fix: message('leads.import_by_credential.fix'),
  });
}

/**
 * {@link assertMayChangeActive} for what emails get from outside of their campaign: a mailbox puts its name and its signature into them, the workspace its
 * words for opting out. Whoever approved the start has seen these too.
 * @param senders mailboxes whose emails of campaigns that send are changed; none where there are no such emails
 * @throws AppError forbidden, with every reason
 */
export async function assertMayChangeEmails(tx: Tx, senders: readonly string[]): Promise<void> {
  if (!isCredential(tx.actor) || senders.length === 0) return;
  await assertAllowed(tx, senders, 0);
}

async function assertWithinPolicy(tx: Tx, campaign: CampaignRow, recipients: number): Promise<void> {
  await assertAllowed(tx, await sendersToAllow(tx.org, campaign), recipients);
}

async function assertAllowed(tx: Tx, mailboxIds: readonly string[], recipients: number): Promise<void> {
  const authorization = await authorizeAction(tx, tx.actor, { capability: 'campaign.launch', mailboxIds, recipients });
  if (authorization.decision === 'execute') return;
  throw new AppError('forbidden', message('leads.beyond_policy', { reasons: sentences(authorization.reasons) }), {
    fix: message('leads.beyond_policy.fix'),
  });
}

function sentences(reasons: readonly PolicyReason[]): Message {
  return joined(reasons.map(({ message: said }) => said));
}
