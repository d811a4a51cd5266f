import type { CampaignRow } from '../../db/models/campaign.ts';
import { holdForApproval } from '../approvals/hold.ts';
import { isRequesterValid, requesterOf } from '../approvals/standing.ts';
import { findApproval, type ApprovalRow } from '../approvals/view.ts';
import type { ApprovalSubject } from '../platform/kernel/tx.ts';
import { bindingOf } from '../sending/approved.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { bindCampaign } from '../sending/control/approved-leads.ts';
import { lockCampaign, pauseCampaign } from '../sending/control/status.ts';
import { undefinedIfGone } from './gone.ts';
import { startContent, startOrHold, subjectOf, type StartOptions } from './start.ts';
import { message } from '../../messages/index.ts';

/**
 * Approval of a campaign start. An approved start still runs all checks of a start, and its emails are compared with
 * the approval. A start that fails is written to the campaign's log, where the requesting key can read it.
 */
export const campaignStart: ApprovalSubject<CampaignRow> = {
  type: 'campaign',
  lock: (tx, campaignId) => lockCampaign(tx, campaignId).catch(undefinedIfGone),
  content: (tx, campaign, approval, config) => startContent(tx, campaign, config, optionsOf(approval)),
  async execute(tx, campaign, approval, config) {
    await startOrHold(config, tx, campaign, optionsOf(approval));
    await bindCampaign(tx, campaign.id, { id: approval.id, fields: bindingOf(approval.payload).fields });
  },
  async stop(tx, { subjectId, approvalId, fields }, config) {
    const campaign = await lockCampaign(tx, subjectId).catch(undefinedIfGone);
    if (campaign?.status !== 'active' || campaign.approval_id !== approvalId || !approvalId) return;
    await pauseCampaign(tx, campaign.id, 'paused', message('log.not_as_approved', { fields }));
    const approval = await findApproval(tx.org, approvalId);
    if (!(await isRequesterValid(tx, approval))) return;
    await holdForApproval(tx, config, {
      requester: requesterOf(approval),
      capability: 'campaign.launch',
      subject: subjectOf(campaign),
      reasons: [{ code: 'content_changed', message: message('approval_reason.fields_changed', { fields }) }],
      content: await startContent(tx, campaign, config, optionsOf(approval)),
    });
  },
  refused: (tx, campaign, { id }, why) =>
    logCampaign(tx, campaign.id, 'campaign_start_refused', REFUSED[why], { approval_id: id }),
};

const REFUSED = {
  denied: message('log.start_denied'),
  expired: message('log.start_expired'),
  changed: message('log.start_changed'),
  revoked: message('log.start_revoked'),
};

function optionsOf({ payload }: ApprovalRow): StartOptions {
  return { acknowledgeListRisk: payload.details?.list_risk_accepted === true };
}
