import type { CampaignRow } from '../../../db/models/campaign.ts';
import { signal, signalOpen } from '../../../temporal/dispatch.ts';
import { runWorkflow } from '../../../workflows/run/contract.ts';
import type { ApprovalSubject, Tx } from '../../platform/kernel/tx.ts';
import { bindingOf } from '../../sending/approved.ts';
import { bindCampaign } from '../../sending/control/approved-leads.ts';
import { launchContent } from '../launch-content.ts';
import { launch } from '../start.ts';
import { denyUndecided, holdRun, type LaunchedRun } from './approval.ts';
import type { Recipients } from './audience.ts';
import { denyRun } from './end.ts';
import { undefinedIfGone } from '../gone.ts';
import { lockRun, moveRun } from './move.ts';
import { CREDENTIAL_REVOKED } from './requester.ts';
import type { RunRow } from './states.ts';
import { endReason } from '../../approvals/view.ts';
import { message } from '../../../messages/index.ts';

/**
 * Approval of a run's launch. The decision only signals the run's workflow, which then launches, because the launch
 * checks use the network. If the campaign has changed in the meantime, the run waits for another approval.
 */
export const runLaunch: ApprovalSubject<LaunchedRun> = {
  type: 'run',
  async lock(tx, approval) {
    const run = await lockRun(tx, approval.subject_id).catch(undefinedIfGone);
    return run && { run, ready: null };
  },
  async handOver(tx, { run }, { id, decided_by }) {
    const data = { approval_id: id, decided_by };
    await moveRun(tx, run.id, ['awaiting_approval'], 'launching', { reason: 'approved', data });
    tx.intend(signal(runWorkflow, argsOf(tx, run), 'decided', { approvalId: id, status: 'approved' }));
  },
  content: async (tx, { ready }, config) => ready && launchContent(tx.org, ready.campaign, config),
  async execute(tx, { run, ready }, { id, payload }) {
    const { campaign, recipients } = ready!;
    await activate(tx, run, campaign, recipients);
    // Does not bind the campaign to the approval if a person has started it in the meantime.
    if (campaign.status !== 'active') await bindCampaign(tx, campaign.id, { id, fields: bindingOf(payload).fields });
  },
  async refused(tx, { run, ready }, approval, why, config) {
    const { id, reason } = approval;
    if (why === 'changed') {
      const changed = {
        code: 'content_changed',
        message: message('approval_reason.content_changed'),
      };
      await holdRun(config, tx, run, ready!.campaign, { ...ready!, reasons: [changed] });
      return;
    }
    if (why === 'expired') await denyUndecided(tx, run, endReason(approval, tx.now));
    else if (why === 'revoked') await denyRun(tx, run, CREDENTIAL_REVOKED);
    else
      await denyRun(tx, run, {
        code: 'approval_denied',
        message: reason ? message('runs.denied_because', { reason }) : message('runs.denied'),
        fix: message('runs.denied.fix'),
      });
    tx.intend(
      signalOpen(runWorkflow, argsOf(tx, run), 'decided', {
        approvalId: id,
        status: why === 'revoked' ? 'denied' : why,
      }),
    );
  },
};

function argsOf(tx: Tx, { id }: RunRow) {
  return { organizationId: tx.org.organizationId, runId: id };
}

/**
 * Starts the campaign of a locked run in state launching, whose checks have passed in this transaction. The launch
 * checks include all checks of a campaign start. If a person has already started the campaign, only the run becomes
 * active.
 */
export async function activate(tx: Tx, run: RunRow, campaign: CampaignRow, { count }: Recipients): Promise<RunRow> {
  if (campaign.status !== 'active') await launch(tx, campaign, count);
  return (await moveRun(tx, run.id, ['launching'], 'active', { reason: 'launched' }))!;
}
