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
 * Checks that the caller may change the content or the recipients of an active campaign. A person reviews a start that
 * exceeds a credential's policy, but nobody would review such a change. So the change must be within the policy, is
 * counted as an action, and is refused otherwise. In any other state the campaign may be changed freely, because the next
 * start is checked.
 * @param campaign locked by the caller, with the senders that it has after the change
 * @throws AppError forbidden, with every reason
 */
export async function assertMayChangeActive(tx: Tx, campaign: CampaignRow): Promise<void> {
  if (!isCredential(tx.actor) || campaign.status !== 'active') return;
  await assertWithinPolicy(tx, campaign, 0);
}

/**
 * Variant of {@link assertMayChangeActive} for the retry of an email, which restarts a completed campaign.
 * @throws AppError forbidden, with every reason
 */
export async function assertMayReopen(tx: Tx, campaign: CampaignRow): Promise<void> {
  assertMayMail(tx.actor, campaign);
  if (isCredential(tx.actor)) await assertWithinPolicy(tx, campaign, 1);
}

/**
 * Decides about leads that were just added to a locked campaign. Where it sends to new leads, those that a credential adds
 * beyond its policy are held for an approval. Other leads need none. People need a role for campaigns, also if they add a
 * contact that names the campaigns.
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

/** Returns true if added leads are mailed without a further start. */
function sendsToNewLeads({ status }: Pick<CampaignRow, 'status'>): boolean {
  return status === 'active' || status === 'completed';
}

/**
 * Refuses people whose role covers only contacts, because added leads would be mailed.
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
 * Refuses a key's or application's import into a campaign that is active or would restart. The number of people in a
 * file is known only after the policy was checked. An import that began before the start stops at its next page: the
 * approver has seen only the leads of that moment.
 * @param campaign locked by the caller if leads are added
 * @param options.byCredential true if a key or application requested the import
 * @throws AppError forbidden
 */
export function assertMayImportInto(campaign: CampaignRow, { byCredential }: { byCredential: boolean }): void {
  if (!byCredential || !sendsToNewLeads(campaign)) return;
  throw new AppError('forbidden', message('leads.import_by_credential'), {
    fix: message('leads.import_by_credential.fix'),
  });
}

/**
 * Variant of {@link assertMayChangeActive} for parts of emails defined outside the campaign: a mailbox's name and
 * signature, and the workspace's opt-out text. The approver of a start has seen these too.
 * @param senders mailboxes whose emails in active campaigns change; empty if there are none
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
