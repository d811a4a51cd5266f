import { CAMPAIGN_STATUSES, type CampaignRow } from '../../db/models/campaign.ts';
import { AppError } from '../../lib/errors.ts';
import { authorizeAction } from '../approvals/authorize.ts';
import { withdrawApproval } from '../approvals/expire.ts';
import { holdForApproval } from '../approvals/hold.ts';
import type { ApprovalRow } from '../approvals/view.ts';
import { isCredential, may, type Actor } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import { assertPoolAllowed } from '../sending/campaign/sender-pool.ts';
import { launchRefusal } from '../sending/campaign/launch-checks.ts';
import { launchContent } from './launch-content.ts';
import { activateCampaign, hasOpenLeads, lockCampaign, pauseCampaign } from '../sending/control/status.ts';
import { message, type Message } from '../../messages/index.ts';

export interface StartOptions {
  /** Start although the projected bounce rate is high. */
  acknowledgeListRisk?: boolean;
}

/**
 * Starting and stopping needs the right to send, also when an edit of `status` does it.
 * @throws AppError forbidden
 */
export function assertMaySend(actor: Actor): void {
  if (may(actor, ['SEND_CAMPAIGNS'], ['send_campaigns'])) return;
  throw new AppError('forbidden', message('campaigns.may_not_send'));
}

/**
 * Parks a campaign that is not active at paused_undeliverable when address verification refuses every lead it has left.
 * Run before {@link startCampaign}, in a transaction of its own: the refusal must not roll back the new status.
 * @throws AppError leads_undeliverable after parking; forbidden, without parking, when the caller may not start it
 */
export async function parkIfUndeliverable(ctx: Ctx, campaignId: string): Promise<void> {
  assertMaySend(ctx.actor);
  const refusal = await transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    if (campaign.status === 'active') return null;
    await assertPoolAllowed(tx, campaign);
    const found = await launchRefusal(tx.org, campaign, { now: tx.now, acknowledgeListRisk: true });
    if (found?.code !== 'leads_undeliverable') return null;
    await pauseCampaign(tx, campaign.id, 'paused_undeliverable', found.said as Message, CAMPAIGN_STATUSES);
    return found;
  });
  if (refusal) throw refusal;
}

/**
 * Starts or resumes a campaign. One whose leads have all finished becomes continuous and waits for more. A key or application does it
 * only within its policy; otherwise the start waits for a person, with everything that would be sent.
 * @returns the approval that it waits for; null when the campaign was started
 * @throws AppError not_found, bad_request when it is active, forbidden for mailboxes the key may not use, and the
 *   refusals of {@link launchRefusal}
 */
export async function startCampaign(
  ctx: Ctx,
  campaignId: string,
  options: StartOptions = {},
): Promise<ApprovalRow | null> {
  return transact(ctx, async (tx) => startOrHold(ctx, tx, await lockCampaign(tx, campaignId), options));
}

/** {@link startCampaign} for a campaign the caller has locked: its steps, each once. */
export async function startOrHold(
  { config }: Pick<Ctx, 'config'>,
  tx: Tx,
  campaign: CampaignRow,
  options: StartOptions,
): Promise<ApprovalRow | null> {
  await assertMayLaunch(tx, campaign, options);
  const held = await authorizeStart(config, tx, campaign, options);
  if (held) return held;
  await launch(tx, campaign);
  await withdrawApproval(tx, subjectOf(campaign), 'The campaign was started meanwhile');
  return null;
}

/** Starts a locked campaign whose start a person has approved. */
export async function startApproved(tx: Tx, campaign: CampaignRow, options: StartOptions): Promise<void> {
  await assertMayLaunch(tx, campaign, options);
  await launch(tx, campaign);
}

/** @throws AppError forbidden for mailboxes the key may not use, and the refusals of {@link launchRefusal} */
async function assertMayLaunch(tx: Tx, campaign: CampaignRow, options: StartOptions): Promise<void> {
  await assertPoolAllowed(tx, campaign);
  const refusal = await launchRefusal(tx.org, campaign, { now: tx.now, ...options });
  if (refusal) throw refusal;
}

/**
 * Asks the policy of a key or application. People need none, and neither does a campaign that is active.
 * @returns the approval that the start waits for; null where it is allowed
 */
async function authorizeStart(
  config: Ctx['config'],
  tx: Tx,
  campaign: CampaignRow,
  options: StartOptions,
): Promise<ApprovalRow | null> {
  if (!isCredential(tx.actor) || campaign.status === 'active') return null;
  const content = await startContent(tx, campaign, config, options);
  const authorization = await authorizeAction(tx, tx.actor, {
    capability: 'campaign.launch',
    mailboxIds: content.senders.map((sender) => sender.mailbox_id),
    recipients: content.recipients.count + campaign.cc.length + campaign.bcc.length,
  });
  if (authorization.decision !== 'awaiting_approval') return null;
  return holdForApproval(tx, config, {
    requester: tx.actor,
    capability: 'campaign.launch',
    subject: subjectOf(campaign),
    reasons: authorization.reasons,
    content,
  });
}

function subjectOf({ id }: CampaignRow) {
  return { type: 'campaign', id } as const;
}

/** What an approver of a start decides on; an accepted list risk is part of it. */
export async function startContent(
  tx: Tx,
  campaign: CampaignRow,
  config: Ctx['config'],
  { acknowledgeListRisk }: StartOptions,
): Promise<ApprovalRow['payload']> {
  const content = await launchContent(tx.org, campaign, config);
  return acknowledgeListRisk ? { ...content, details: { ...content.details, list_risk_accepted: true } } : content;
}

/**
 * Starts a locked campaign. The caller has made all checks of a start in this transaction.
 * @throws AppError bad_request when it is active and does not wait for leads
 */
export async function launch(tx: Tx, campaign: CampaignRow): Promise<void> {
  const waitForLeads = !(await hasOpenLeads(tx, campaign.id));
  if (campaign.status === 'active') {
    if (!waitForLeads || campaign.continuous) throw new AppError('bad_request', message('campaigns.already_active'));
    await tx.org
      .table('campaigns')
      .where({ id: campaign.id })
      .update({ continuous: true, idle_since: tx.now, updated_at: tx.now });
  } else {
    await activateCampaign(tx, campaign, {
      type: 'campaign_started',
      message: message('log.campaign_started'),
      waitForLeads,
    });
  }
  tx.audit({
    action: 'start',
    entityType: 'campaign',
    entityId: campaign.id,
    changes: { status: { from: campaign.status, to: 'active' } },
  });
}

/**
 * Pauses an active campaign.
 * @throws AppError not_found, bad_request when it is not active
 */
export async function stopCampaign(ctx: Ctx, campaignId: string): Promise<void> {
  await transact(ctx, async (tx) => stopLocked(tx, await lockCampaign(tx, campaignId)));
}

/** {@link stopCampaign} for a campaign the caller has locked. */
export async function stopLocked(tx: Tx, campaign: CampaignRow): Promise<void> {
  if (!(await pauseCampaign(tx, campaign.id, 'paused', message('log.campaign_stopped')))) {
    throw new AppError('bad_request', message('campaigns.not_active'), {
      fix: message('campaigns.not_active.fix', { status: campaign.status }),
    });
  }
  tx.audit({
    action: 'stop',
    entityType: 'campaign',
    entityId: campaign.id,
    changes: { status: { from: 'active', to: 'paused' } },
  });
}
