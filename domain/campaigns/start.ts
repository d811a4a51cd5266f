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
  /** Start although the projected bounce rate is high. */
  acknowledgeListRisk?: boolean;
}

/** The outcome of a start; the campaign was started where neither is set. */
export interface Start {
  /** The approval that the start waits for, with everything that would be sent. */
  held?: ApprovalRow;
  /** Verification refuses every lead: the campaign was parked, so the caller must not roll back. */
  refused?: AppError;
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
 * Starts or resumes a campaign (POST /campaigns/:id/start). One whose leads have all finished becomes continuous and waits for more.
 * A key or application starts it only within its policy; otherwise the start waits for a person.
 * @throws AppError not_found, bad_request when it is active, forbidden for mailboxes the key may not use, and the
 *   refusals of {@link launchRefusal}
 */
export async function startCampaign(ctx: Ctx, campaignId: string, options: StartOptions = {}): Promise<Start> {
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    return startOrHold(ctx.config, tx, campaign, options).catch((error: unknown) => park(tx, campaign, error));
  });
}

/** {@link startCampaign} for a campaign the caller has locked: the steps of a start, each once. It parks nothing. */
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
  // Started as it is now, by somebody who may: no earlier approval binds it.
  if (campaign.approval_id) await unbindCampaign(tx, campaign.id);
  await withdrawApproval(tx, subjectOf(campaign), 'The campaign was started meanwhile');
  return {};
}

/**
 * Parks a locked campaign at paused_undeliverable when its start was refused because verification refuses every lead it has left.
 * @param error that of the start, whose writes are rolled back
 * @throws the error itself, where it is another one or the campaign is active
 */
export async function park(tx: Tx, campaign: CampaignRow, error: unknown): Promise<Start> {
  if (!(error instanceof AppError) || error.code !== 'leads_undeliverable' || campaign.status === 'active') throw error;
  await pauseCampaign(tx, campaign.id, 'paused_undeliverable', error.said as Message, CAMPAIGN_STATUSES);
  return { refused: error };
}

/**
 * Asks the policy of a key or application. People need none, and neither does a campaign that is active.
 * @returns the approval that the start waits for; undefined where it is allowed
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
 * Asks the policy of a credential about the launch of a campaign, as it is now: senders and recipients may have changed since it was asked for.
 * @param leads that have not finished
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
