import type { CampaignRow } from '../../db/models/campaign.ts';
import { AppError } from '../../lib/errors.ts';
import { authorizeAction } from './authorize.ts';
import { sendersToAllow } from '../sending/campaign/sender-pool.ts';
import { isCredential, may, type Actor } from '../platform/kernel/actor.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { message, joined } from '../../messages/index.ts';

/**
 * Checks that the caller may change the content or the recipients of an active campaign. A person reviews a start that
 * exceeds a credential's policy, but nobody would review such a change. So the change must be within the policy, is
 * counted as an action with the added leads, and is refused otherwise. In any other state the campaign may be changed
 * freely, because the next start is checked.
 * @param campaign locked by the caller, with the senders that it has after the change
 * @param recipients number of added leads
 * @throws AppError forbidden, with every reason
 */
export async function assertMayChangeActive(tx: Tx, campaign: CampaignRow, recipients = 0): Promise<void> {
  if (!isCredential(tx.actor) || campaign.status !== 'active') return;
  await assertWithinPolicy(tx, campaign, recipients);
}

/**
 * Variant of {@link assertMayChangeActive} for added leads, which also restart a completed campaign. People need a role
 * for campaigns, even if they add a contact that names the campaigns.
 * @throws AppError forbidden, with every reason
 */
export async function assertMayAddLeads(tx: Tx, campaign: CampaignRow, recipients: number): Promise<void> {
  if (recipients === 0) return;
  assertMayMail(tx.actor, campaign);
  if (isCredential(tx.actor) && sendsToNewLeads(campaign)) await assertWithinPolicy(tx, campaign, recipients);
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
  const reasons = joined(authorization.reasons.map(({ message: said }) => said));
  throw new AppError('forbidden', message('leads.beyond_policy', { reasons }), {
    fix: message('leads.beyond_policy.fix'),
  });
}
