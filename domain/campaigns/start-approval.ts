import type { CampaignRow } from '../../db/models/campaign.ts';
import type { ApprovalRow } from '../approvals/view.ts';
import type { ApprovalSubject } from '../platform/kernel/tx.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { lockCampaign } from '../sending/control/status.ts';
import { undefinedIfGone } from './gone.ts';
import { startContent, startOrHold, type StartOptions } from './start.ts';
import { message } from '../../messages/index.ts';

/**
 * Approval of a campaign start. An approved start still runs all checks of a start. A start that does not happen is
 * written to the campaign's log, where the requesting key can read it.
 */
export const campaignStart: ApprovalSubject<CampaignRow> = {
  type: 'campaign',
  lock: (tx, campaignId) => lockCampaign(tx, campaignId).catch(undefinedIfGone),
  content: (tx, campaign, approval, config) => startContent(tx, campaign, config, optionsOf(approval)),
  execute: async (tx, campaign, approval, config) =>
    void (await startOrHold(config, tx, campaign, optionsOf(approval))),
  refused: (tx, campaign, { id }, why) =>
    logCampaign(tx, campaign.id, 'campaign_start_refused', REFUSED[why], { approval_id: id }),
};

const REFUSED = {
  denied: message('log.start_denied'),
  expired: message('log.start_expired'),
  changed: message('log.start_changed'),
};

function optionsOf({ payload }: ApprovalRow): StartOptions {
  return { acknowledgeListRisk: payload.details?.list_risk_accepted === true };
}
