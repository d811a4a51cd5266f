import type { PolicyReason } from '../../db/json-columns.ts';
import type { ApprovalRow } from '../../db/models/approval.ts';
import type { CampaignRow } from '../../db/models/campaign.ts';
import type { Config } from '../../lib/config/index.ts';
import { AppError } from '../../lib/errors.ts';
import { authorizeAction, authorizeCampaign, type Authorization, type Requester } from './authorize.ts';
import { holdForApproval } from './hold.ts';
import { useAllowance } from './lead-allowances/use.ts';
import { approveAdded, holdAdded } from '../sending/control/approved-leads.ts';
import { subjectOf } from '../platform/kernel/approval-subjects.ts';
import { may, type Actor } from '../platform/kernel/actor.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { message, joined, type Message } from '../../messages/index.ts';

/**
 * Checks that the caller may change the content or the recipients of an active campaign. Nobody would review such a
 * change before emails are sent. A change by a key or application is therefore refused unless its policy allows it, and
 * is counted as an action. In any other state the campaign may be changed freely, because its next start is checked.
 * @param campaign locked by the caller, with the senders that it has after the change
 * @throws AppError forbidden, with every reason
 */
export async function assertMayChangeActive(tx: Tx, campaign: CampaignRow): Promise<void> {
  if (campaign.status === 'active') refuseBeyondPolicy(await authorizeCampaign(tx, tx.actor, campaign, 0));
}

/**
 * Variant of {@link assertMayChangeActive} for the retry of an email, which restarts a completed campaign.
 * @throws AppError forbidden, with every reason
 */
export async function assertMayReopen(tx: Tx, campaign: CampaignRow): Promise<void> {
  assertMayMail(tx.actor, campaign);
  refuseBeyondPolicy(await authorizeCampaign(tx, tx.actor, campaign, 1));
}

/** Leads of a campaign that wait for a person's approval. */
interface WaitingLeads {
  count: number;
  approval: ApprovalRow;
}

/**
 * Decides whether leads that were just added to a locked campaign need an approval. They need one if the campaign sends
 * to new leads, and a key or application added them without permission by its policy or its allowance for this
 * campaign. Such leads are held. Other leads need no approval, and are released if they are held. People need a role
 * with rights for campaigns, also when they add a contact together with its campaigns.
 * @param leadIds the added leads, which must all be pending
 * @param requester the key or application that added the leads, if it is not the actor
 * @returns the leads that wait for an approval; undefined if there are none
 * @throws AppError forbidden for a person whose role covers only contacts
 */
export async function holdUnlessMayAdd(
  tx: Tx,
  config: Config,
  campaign: CampaignRow,
  leadIds: readonly string[],
  requester: Requester = tx.actor,
): Promise<WaitingLeads | undefined> {
  if (leadIds.length === 0) return undefined;
  assertMayMail(tx.actor, campaign);
  const { count, reasons } = sendsToNewLeads(campaign)
    ? await countAllowed(tx, campaign, leadIds.length, requester)
    : { count: leadIds.length, reasons: [] };
  const allowed = leadIds.slice(0, count);
  const waiting = leadIds.slice(count);
  if (allowed.length > 0 && (campaign.approval_id || requester !== tx.actor)) await approveAdded(tx, campaign, allowed);
  if (waiting.length === 0) return undefined;
  await holdAdded(tx, campaign.id, waiting, message('leads.wait_for_approval', { reasons: sentences(reasons) }));
  const approval = await holdForApproval(tx, config, {
    requester,
    capability: 'campaign.launch',
    subject: subjectOf(tx, 'campaign_leads'),
    subjectId: campaign.id,
    locked: campaign,
    reasons,
  });
  return { count: waiting.length, approval };
}

/**
 * Returns the number of leads that the policy permits, and the reasons for holding the others. If the policy does not
 * permit them, the allowance is used.
 */
async function countAllowed(
  tx: Tx,
  campaign: CampaignRow,
  leads: number,
  requester: Requester,
): Promise<{ count: number; reasons: PolicyReason[] }> {
  const authorization = await authorizeCampaign(tx, requester, campaign, leads);
  if (authorization.decision === 'execute') return { count: leads, reasons: [] };
  const allowance = await useAllowance(tx, requester, campaign.id, leads);
  return { count: allowance.count, reasons: [...authorization.reasons, ...allowance.reasons] };
}

/** Returns true if the campaign sends emails to added leads without being started again. */
export function sendsToNewLeads({ status }: Pick<CampaignRow, 'status'>): boolean {
  return status === 'active' || status === 'completed';
}

/**
 * Refuses people whose role has rights only for contacts, because emails would be sent to the added leads.
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
 * Variant of {@link assertMayChangeActive} for parts of emails that are not stored in the campaign: a mailbox's name
 * and signature, and the workspace's opt-out text. The person who approved the start has also seen these settings.
 * @param senders mailboxes whose emails in active campaigns change; empty if there are none
 * @throws AppError forbidden, with every reason
 */
export async function assertMayChangeEmails(tx: Tx, senders: readonly string[]): Promise<void> {
  if (senders.length === 0) return;
  const action = { capability: 'campaign.launch', mailboxIds: senders, recipients: 0 } as const;
  refuseBeyondPolicy(await authorizeAction(tx, tx.actor, action));
}

function refuseBeyondPolicy(authorization: Authorization): void {
  if (authorization.decision === 'execute') return;
  throw new AppError('forbidden', message('leads.beyond_policy', { reasons: sentences(authorization.reasons) }), {
    fix: message('leads.beyond_policy.fix'),
  });
}

function sentences(reasons: readonly PolicyReason[]): Message {
  return joined(reasons.map(({ message: said }) => said));
}
