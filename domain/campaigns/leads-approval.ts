import type { CampaignRow } from '../../db/models/campaign.ts';
import type { Config } from '../../lib/config/index.ts';
import { holdAgain } from '../approvals/hold.ts';
import { isRequesterValid } from '../approvals/standing.ts';
import { approvalOfSubject, findApproval, type ApprovalRow } from '../approvals/view.ts';
import { restartForLeads } from '../audience/leads/add.ts';
import type { ApprovalSubject, Tx } from '../platform/kernel/tx.ts';
import { bindingOf } from '../sending/approved.ts';
import { logCampaign } from '../sending/campaign/log.ts';
import { approveWaiting, holdChanged } from '../sending/control/approved-leads.ts';
import { signalLauncher } from '../sending/control/signals.ts';
import { lockCampaign } from '../sending/control/status.ts';
import { undefinedIfGone } from './gone.ts';
import { launchContent } from './launch-content.ts';
import { message } from '../../messages/index.ts';

/**
 * Approval of leads of a sending campaign. It is needed for leads that an API key or application added without
 * permission by its policy. It is also needed for leads whose values have changed since their approval. Such leads are
 * held until a person approves them.
 */
export const campaignLeads: ApprovalSubject<CampaignRow> = {
  type: 'campaign_leads',
  lock: (tx, approval) => lockCampaign(tx, approval.subject_id).catch(undefinedIfGone),
  content: (tx, campaign, config) => launchContent(tx.org, campaign, config, { onlyWaiting: true }),
  async execute(tx, campaign, { payload }) {
    const count = await approveWaiting(tx, campaign.id, bindingOf(payload).fields);
    await logCampaign(tx, campaign.id, 'leads_approved', message('log.leads_approved', { count }), { count });
    if (campaign.status === 'active') signalLauncher(tx, campaign.id, 'lead_released');
    await restartForLeads(tx, campaign);
  },
  async stop(tx, { subjectId, enrollmentId, approvalId, fields }, config) {
    const campaign = await lockCampaign(tx, subjectId).catch(undefinedIfGone);
    if (campaign?.status !== 'active') return;
    const count = await holdChanged(tx, campaign.id, enrollmentId!, message('leads.not_as_approved', { fields }));
    if (count === 0) return;
    await logCampaign(tx, campaign.id, 'leads_held', message('log.leads_not_as_approved', { count, fields }), {
      count,
    });
    const approval = approvalId
      ? await findApproval(tx.org, approvalId)
      : await approvalOfSubject(tx.org, 'campaign_leads', campaign.id);
    if (approval && (await isRequesterValid(tx, approval))) await askAgain(tx, config, campaign, approval, fields);
  },
  async refused(tx, campaign, approval, why, config) {
    if (why === 'changed') return void (await askAgain(tx, config, campaign, approval, ['leads']));
    await logCampaign(tx, campaign.id, 'leads_held', REFUSED[why], { approval_id: approval.id });
  },
};

const REFUSED = {
  denied: message('log.leads_denied'),
  expired: message('log.leads_expired'),
  revoked: message('log.leads_revoked'),
};

/** Requests a new approval for the waiting leads, because some of them have changed. */
function askAgain(tx: Tx, config: Config, campaign: CampaignRow, approval: ApprovalRow, fields: string[]) {
  const again = { subject: campaignLeads, subjectId: campaign.id, locked: campaign, fields };
  return holdAgain(tx, config, approval, again);
}
