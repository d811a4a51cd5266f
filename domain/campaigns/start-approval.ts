import type { CampaignRow } from '../../db/models/campaign.ts';
import type { ApprovalSubject } from '../approvals/decide.ts';
import type { ApprovalRow } from '../approvals/view.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { lockCampaign } from '../sending/control/status.ts';
import { startApproved, startContent, type StartOptions } from './start.ts';
import { message } from '../../messages/index.ts';

/**
 * The start of a campaign, as a person approves it: with its approval it happens after all checks of a start. A start that does not happen stands in the
 * campaign's log, where the key that asked for it can read so.
 */
export const campaignStart: ApprovalSubject<CampaignRow> = {
  type: 'campaign',
  refusals: [
    'campaign_invalid',
    'empty_step_body',
    'campaign_no_mailbox',
    'no_leads',
    'leads_undeliverable',
    'list_bounce_risk',
  ],
  lock: lockCampaign,
  content: (tx, campaign, approval, config) => startContent(tx, campaign, config, optionsOf(approval)),
  execute: (tx, campaign, approval) => startApproved(tx, campaign, optionsOf(approval)),
  refused: (tx, campaign, { id }, why) =>
    logCampaign(tx, campaign.id, 'campaign_start_refused', REFUSED[why], { approval_id: id }),
};

const REFUSED = {
  denied: message('log.start_denied'),
  changed: message('log.start_changed'),
};

function optionsOf({ payload }: ApprovalRow): StartOptions {
  return { acknowledgeListRisk: payload.details?.list_risk_accepted === true };
}
