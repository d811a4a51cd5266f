import type { CampaignRow } from '../../../db/models/campaign.ts';
import { executeApproval } from '../../approvals/decide.ts';
import { launchContent } from '../launch-content.ts';
import { launch } from '../start.ts';
import { lockCampaign } from '../../sending/control/status.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { holdRun } from './approval.ts';
import { countRecipients } from './audience.ts';
import { checkLaunch, readOutside, type OutsideFacts } from './checks.ts';
import { deny, failChecks, failGone } from './end.ts';
import { isGone } from './gone.ts';
import { lockRun, moveRun } from './move.ts';
import { refusedRequester } from './requester.ts';
import type { RunRow } from './states.ts';
import { message } from '../../../messages/index.ts';

/**
 * Launches a run that a person has approved. In one transaction, with the run locked against a cancellation: the checks and
 * all hard gates again, the comparison with what the person saw, and the start of the campaign. What was changed since
 * waits for another approval.
 * @returns the run as it is now; one in another state than launching is left alone
 */
export async function launchRun(ctx: Ctx, runId: string): Promise<RunRow> {
  const found = await transact(ctx, (tx) => lockRun(tx, runId));
  if (found.state !== 'launching') return found;
  const outside = await readOutside(ctx, found.campaign_id);
  return transact(ctx, async (tx) => {
    const run = await lockRun(tx, runId);
    return run.state === 'launching' ? launchApproved(ctx, tx, run, outside) : run;
  });
}

async function launchApproved(ctx: Ctx, tx: Tx, run: RunRow, outside: OutsideFacts): Promise<RunRow> {
  const campaign = await lockCampaign(tx, run.campaign_id).catch(isGone);
  if (!campaign || !outside) return failGone(tx, run);
  const refused = await refusedRequester(tx, run);
  if (refused) return deny(tx, run, refused);
  const checked = await checkLaunch(tx, campaign, outside);
  const recipients = await countRecipients(tx.org, campaign.id);
  if (!checked.passed) return failChecks(tx, run, checked, recipients);
  const content = await launchContent(tx.org, campaign, ctx.config);
  switch (await executeApproval(tx, run.approval_id!, content)) {
    case 'executed':
      return activate(tx, run, campaign);
    case 'changed':
      return holdRun(ctx, tx, run, campaign, {
        checked,
        recipients,
        reasons: [{ code: 'content_changed', message: message('approval_reason.content_changed') }],
      });
    case 'not_approved':
      return deny(tx, run, {
        code: 'approval_withdrawn',
        message: 'The approval of the run is no longer in force',
        fix: 'Create another run.',
      });
  }
}

/**
 * Starts the campaign of a locked run in state launching, whose checks have passed in this transaction: they are those of a start and more. A
 * campaign that a person has started meanwhile is followed as it is.
 */
export async function activate(tx: Tx, run: RunRow, campaign: CampaignRow): Promise<RunRow> {
  if (campaign.status !== 'active') await launch(tx, campaign);
  return (await moveRun(tx, run.id, ['launching'], 'active', { reason: 'launched' }))!;
}
