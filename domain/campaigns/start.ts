import { CAMPAIGN_STATUSES, type CampaignRow } from '../../db/models/campaign.ts';
import { AppError } from '../../lib/errors.ts';
import { authorizeAction, type Requester } from '../approvals/authorize.ts';
import { withdrawApproval } from '../approvals/expire.ts';
import { holdForApproval } from '../approvals/hold.ts';
import type { ApprovalRow } from '../approvals/view.ts';
import { isCredential, may, type Actor } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import { assertPoolAllowed, sendersToAllow } from '../sending/campaign/sender-pool.ts';
import { countLeads, launchRefusal } from '../sending/campaign/launch-checks.ts';
import { unbindCampaign } from '../sending/control/approved-leads.ts';
import { launchContent } from './launch-content.ts';
import { activateCampaign, hasOpenLeads, lockCampaign, pauseCampaign } from '../sending/control/status.ts';
import { message, type Message } from '../../messages/index.ts';

export interface StartOptions {
  /** Allows a start despite a high projected bounce rate. */
  acknowledgeListRisk?: boolean;
}

/** The outcome of a start. The campaign was started if neither field is set. */
export interface Start {
  /** The approval that the start waits for, with all content that would be sent. */
  held?: ApprovalRow;
  /** Set if verification refuses every lead. The campaign was parked, so the caller must not roll back. */
  refused?: AppError;
}

/**
 * Checks the right to send, which starting and stopping require, also through an edit of `status`.
 * @throws AppError forbidden
 */
export function assertMaySend(actor: Actor): void {
  if (may(actor, ['SEND_CAMPAIGNS'], ['send_campaigns'])) return;
  throw new AppError('forbidden', message('campaigns.may_not_send'));
}

/**
 * Starts or resumes a campaign (POST /campaigns/:id/start). A campaign whose leads have all finished becomes continuous
 * and waits for more. A key or application starts it only within its policy; otherwise the start waits for a person.
 * @throws AppError not_found, bad_request when it is active, forbidden for mailboxes the key may not use, and the
 * refusals of {@link launchRefusal}
 */
export async function startCampaign(ctx: Ctx, campaignId: string, options: StartOptions = {}): Promise<Start> {
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    return startOrHold(ctx.config, tx, campaign, options).catch((error: unknown) => park(tx, campaign, error));
  });
}

/**
 * Variant of {@link startCampaign} for a campaign that the caller has locked. Makes every check of a start once. A
 * refused start changes nothing.
 */
export async function startOrHold(
  config: Ctx['config'],
  tx: Tx,
  campaign: CampaignRow,
  options: StartOptions,
): Promise<Start> {
  await assertPoolAllowed(tx, campaign);
  const refusal = await launchRefusal(tx.org, campaign, { now: tx.now, ...options });
  if (refusal) throw refusal;
  const held = await holdUnlessAllowed(config, tx, campaign, options);
  if (held) return { held };
  await launch(tx, campaign);
  // A permitted caller starts the current version, so no earlier approval binds the campaign.
  if (campaign.approval_id) await unbindCampaign(tx, campaign.id);
  await withdrawApproval(tx, subjectOf(campaign), message('approval.campaign_started'));
  return {};
}

/**
 * Parks a locked campaign at paused_undeliverable if verification refuses every remaining lead.
 * @param error error of the start, whose writes are rolled back
 * @throws `error` itself if it has another cause or the campaign is active
 */
export async function park(tx: Tx, campaign: CampaignRow, error: unknown): Promise<Start> {
  if (!(error instanceof AppError) || error.code !== 'leads_undeliverable' || campaign.status === 'active') throw error;
  await pauseCampaign(tx, campaign.id, 'paused_undeliverable', error.said as Message, CAMPAIGN_STATUSES);
  return { refused: error };
}

/**
 * Checks the policy of a key or application. People and active campaigns need no policy.
 * @returns the approval that the start waits for; undefined if the start is allowed
 */
async function holdUnlessAllowed(
  config: Ctx['config'],
  tx: Tx,
  campaign: CampaignRow,
  options: StartOptions,
): Promise<ApprovalRow | undefined> {
  if (!isCredential(tx.actor) || campaign.status === 'active') return undefined;
  const { open } = await countLeads(tx.org, campaign.id);
  const authorization = await authorizeLaunch(tx, tx.actor, campaign, open);
  if (authorization.decision === 'execute') return undefined;
  return holdForApproval(tx, config, {
    requester: tx.actor,
    capability: 'campaign.launch',
    subject: subjectOf(campaign),
    reasons: authorization.reasons,
    content: await startContent(tx, campaign, config, options),
  });
}

/**
 * Checks a credential's policy for the launch of a campaign with its current senders and recipients, which may have
 * changed since the request.
 * @param leads number of unfinished leads
 */
export async function authorizeLaunch(tx: Tx, requester: Requester, campaign: CampaignRow, leads: number) {
  return authorizeAction(tx, requester, {
    capability: 'campaign.launch',
    // People need no policy.
    mailboxIds: isCredential(requester) ? await sendersToAllow(tx.org, campaign) : [],
    recipients: leads + campaign.cc.length + campaign.bcc.length,
  });
}

/** A campaign as the subject of the approval of its start. */
export function subjectOf({ id }: CampaignRow) {
  return { type: 'campaign', id } as const;
}

/** Builds the content that an approver of a start decides on, including an accepted list risk. */
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

/** Variant of {@link stopCampaign} for a campaign that the caller has locked. */
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
