import type { CampaignRow } from '../../db/models/campaign.ts';
import { AppError } from '../../lib/errors.ts';
import { authorizeAction } from './authorize.ts';
import { sendersToAllow } from '../sending/campaign/sender-pool.ts';
import { isCredential, may, type Actor } from '../platform/kernel/actor.ts';
import type { Tx } from '../platform/kernel/transact.ts';
import { message, joined } from '../../messages/index.ts';

/**
 * Whether the caller may change what a campaign sends while it is active, or to whom. A start of a key or application goes by its policy, and what the
 * policy does not allow is shown to a person before it happens; a change of an active campaign would be shown to nobody. So such a change needs the
 * policy too, and is counted as an action with the leads that it adds; what the policy does not allow is refused. In any other state
 * of the campaign everything may be prepared: the next start asks.
 * @param campaign locked by the caller, with the senders that it has after the change
 * @param recipients leads that are added
 * @throws AppError forbidden, with every reason
 */
export async function assertMayChangeActive(tx: Tx, campaign: CampaignRow, recipients = 0): Promise<void> {
  if (!isCredential(tx.actor) || campaign.status !== 'active') return;
  await assertWithinPolicy(tx, campaign, recipients);
}

/**
 * {@link assertMayChangeActive} for leads that are added, by which a completed campaign starts again. People need a role for campaigns, also where they add a
 * contact and name the campaigns with it.
 * @throws AppError forbidden, with every reason
 */
export async function assertMayAddLeads(tx: Tx, campaign: CampaignRow, recipients: number): Promise<void> {
  if (recipients === 0) return;
  assertMayMail(tx.actor, campaign);
  if (isCredential(tx.actor) && sendsToNewLeads(campaign)) await assertWithinPolicy(tx, campaign, recipients);
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
  const reasons = joined(authorization.reasons.map(({ message: said }) => said));
  throw new AppError('forbidden', message('leads.beyond_policy', { reasons }), {
    fix: message('leads.beyond_policy.fix'),
  });
}
