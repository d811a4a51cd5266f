import { CAMPAIGN_STATUSES, type CampaignRow } from '../../db/models/campaign.ts';
import { AppError } from '../../lib/errors.ts';
import { authorizeCampaign } from '../approvals/authorize.ts';
import { holdForApproval, withdrawApproval } from '../approvals/hold.ts';
import type { ApprovalRow } from '../approvals/view.ts';
import { subjectOf } from '../platform/kernel/approval-subjects.ts';
import { isCredential, may, type Actor } from '../platform/kernel/actor.ts';
import type { Ctx } from '../platform/kernel/context.ts';
import { transact, type Tx } from '../platform/kernel/transact.ts';
import { assertPoolAllowed } from '../sending/campaign/sender-pool.ts';
import { checkStart } from '../sending/campaign/launch-checks.ts';
import { unbindCampaign } from '../sending/control/approved-leads.ts';
import { activateCampaign, lockCampaign, pauseCampaign } from '../sending/control/status.ts';
import { message, type Message } from '../../messages/index.ts';

interface StartOptions {
  /** True to start despite a high projected bounce rate. */
  acknowledgeListRisk?: boolean;
}

/** A start of a locked campaign, as stored with its approval. */
export interface CampaignStart extends StartOptions {
  campaign: CampaignRow;
}

/** The outcome of a start. If neither field is set, the campaign was started. */
export interface Start {
  /** The approval that the start waits for. It contains all content that would be sent. */
  held?: ApprovalRow;
  /**
   * Error if address verification forbids mailing any lead. The campaign then has the status `paused_undeliverable`, so
   * the caller must not roll back.
   */
  refused?: AppError;
}

/**
 * Checks the right to send. It is required to start or stop a campaign, also when this is done by editing `status`.
 * @throws AppError forbidden
 */
export function assertMaySend(actor: Actor): void {
  if (may(actor, ['SEND_CAMPAIGNS'], ['send_campaigns'])) return;
  throw new AppError('forbidden', message('campaigns.may_not_send'));
}

/**
 * Starts or resumes a campaign (POST /campaigns/:id/start). A campaign whose leads have all finished becomes continuous
 * and waits for more. For a key or application, its policy must allow the start; otherwise the start waits for a
 * person's approval.
 * @throws AppError not_found, bad_request when it is active, forbidden for mailboxes the key may not use, and the
 * refusals of {@link checkStart}
 */
export async function startCampaign(ctx: Ctx, campaignId: string, options: StartOptions = {}): Promise<Start> {
  return transact(ctx, async (tx) => {
    const campaign = await lockCampaign(tx, campaignId);
    return startOrHold(ctx.config, tx, campaign, options).catch((error: unknown) => park(tx, campaign, error));
  });
}

/**
 * Variant of {@link startCampaign} for a campaign that the caller has locked. Takes each step of a start once: checks,
 * policy, launch, end of an earlier request. A refused start changes nothing.
 */
export async function startOrHold(
  config: Ctx['config'],
  tx: Tx,
  campaign: CampaignRow,
  options: StartOptions,
): Promise<Start> {
  const openLeads = await assertMayStart(tx, campaign, options);
  const held = await holdUnlessAllowed(config, tx, campaign, openLeads, options);
  if (held) return { held };
  await launch(tx, campaign, openLeads);
  await withdrawApproval(tx, { type: 'campaign', id: campaign.id }, message('approval.campaign_started'));
  return {};
}

/**
 * Runs the checks of a start that apply to every caller: the caller may use the sender pool, and the launch checks
 * pass.
 * @returns the number of unfinished leads
 */
export async function assertMayStart(tx: Tx, campaign: CampaignRow, options: StartOptions): Promise<number> {
  await assertPoolAllowed(tx, campaign);
  const { refusal, openLeads } = await checkStart(tx.org, campaign, { now: tx.now, ...options });
  if (refusal) throw refusal;
  return openLeads;
}

/**
 * Requests the approval of a start that exceeds the policy of a key or application. People need no policy, and an
 * active campaign was checked when it was started.
 * @returns the approval; undefined if the start is allowed
 */
async function holdUnlessAllowed(
  config: Ctx['config'],
  tx: Tx,
  campaign: CampaignRow,
  openLeads: number,
  options: StartOptions,
): Promise<ApprovalRow | undefined> {
  if (!isCredential(tx.actor) || campaign.status === 'active') return undefined;
  const recipients = openLeads + campaign.cc.length + campaign.bcc.length;
  const authorization = await authorizeCampaign(tx, tx.actor, campaign, recipients);
  if (authorization.decision === 'execute') return undefined;
  const locked: CampaignStart = { campaign, ...options };
  return holdForApproval(tx, config, {
    requester: tx.actor,
    capability: 'campaign.launch',
    subject: subjectOf(tx, 'campaign'),
    subjectId: campaign.id,
    locked,
    reasons: authorization.reasons,
  });
}

/**
 * Sets a locked campaign to `paused_undeliverable` if verification refuses every remaining lead.
 * @param error error of the start, whose writes are rolled back
 * @throws `error` itself if it has another cause or the campaign is active
 */
export async function park(tx: Tx, campaign: CampaignRow, error: unknown): Promise<Start> {
  if (!(error instanceof AppError) || error.code !== 'leads_undeliverable' || campaign.status === 'active') throw error;
  await pauseCampaign(tx, campaign.id, 'paused_undeliverable', error.said as Message, CAMPAIGN_STATUSES);
  return { refused: error };
}

/**
 * Starts a locked campaign. The caller must have run all checks of a start in this transaction. If a person has
 * approved the start, the caller must bind the campaign to the approval.
 * @throws AppError bad_request when it is active and does not wait for leads
 */
export async function launch(tx: Tx, campaign: CampaignRow, openLeads: number): Promise<void> {
  const waitForLeads = openLeads === 0;
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
  // Removes the binding to an earlier approval, because the current version is started.
  if (campaign.approval_id) await unbindCampaign(tx, campaign.id);
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
