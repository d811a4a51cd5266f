import { holdAgain } from '../approvals/hold.ts';
import { isRequesterValid } from '../approvals/standing.ts';
import { findApproval, type ApprovalRow } from '../approvals/view.ts';
import type { ApprovalSubject, Tx } from '../platform/kernel/tx.ts';
import { bindingOf } from '../sending/approved.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { bindCampaign } from '../sending/control/approved-leads.ts';
import { lockCampaign, pauseCampaign } from '../sending/control/status.ts';
import { undefinedIfGone } from './gone.ts';
import { launchContent } from './launch-content.ts';
import { assertMayStart, launch, type CampaignStart } from './start.ts';
import { message } from '../../messages/index.ts';

/**
 * Approval of a campaign start. Before an approved start, all checks of a start run again, and its emails are later
 * compared with the approval. If the start fails, the reason is written to the campaign's log, which the requesting key
 * can read.
 */
export const campaignStart: ApprovalSubject<CampaignStart> = {
  type: 'campaign',
  lock: (tx, approval) => lockStart(tx, approval).catch(undefinedIfGone),
  async content(tx, { campaign, acknowledgeListRisk }, config) {
    const content = await launchContent(tx.org, campaign, config);
    return acknowledgeListRisk ? { ...content, details: { ...content.details, list_risk_accepted: true } } : content;
  },
  async execute(tx, { campaign, ...options }, { id, payload }) {
    await launch(tx, campaign, await assertMayStart(tx, campaign, options));
    await bindCampaign(tx, campaign.id, { id, fields: bindingOf(payload).fields });
  },
  async stop(tx, { subjectId, approvalId, fields }, config) {
    const campaign = await lockCampaign(tx, subjectId).catch(undefinedIfGone);
    if (campaign?.status !== 'active' || campaign.approval_id !== approvalId || !approvalId) return;
    await pauseCampaign(tx, campaign.id, 'paused', message('log.not_as_approved', { fields }));
    const approval = await findApproval(tx.org, approvalId);
    if (!(await isRequesterValid(tx, approval))) return;
    const locked = { campaign, acknowledgeListRisk: wasRiskAccepted(approval) };
    await holdAgain(tx, config, approval, { subject: campaignStart, subjectId, locked, fields });
  },
  refused: (tx, { campaign }, { id }, why) =>
    logCampaign(tx, campaign.id, 'campaign_start_refused', REFUSED[why], { approval_id: id }),
};

const REFUSED = {
  denied: message('log.start_denied'),
  expired: message('log.start_expired'),
  changed: message('log.start_changed'),
  revoked: message('log.start_revoked'),
};

async function lockStart(tx: Tx, approval: ApprovalRow): Promise<CampaignStart> {
  const campaign = await lockCampaign(tx, approval.subject_id);
  return { campaign, acknowledgeListRisk: wasRiskAccepted(approval) };
}

function wasRiskAccepted({ payload }: ApprovalRow): boolean {
  return payload.details?.list_risk_accepted === true;
}
