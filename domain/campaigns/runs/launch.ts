import { executeApproved } from '../../approvals/decide.ts';
import { findApproval } from '../../approvals/view.ts';
import { lockCampaign } from '../../sending/control/status.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { countRecipients } from './audience.ts';
import type { CampaignDns } from '../preflight-dns.ts';
import { checkLaunch, readDns } from './checks.ts';
import { denyRun, failChecks, failDeletedCampaign } from './end.ts';
import { undefinedIfGone } from '../gone.ts';
import { runLaunch } from './launch-approval.ts';
import { lockRun } from './move.ts';
import { refusedRequester } from './requester.ts';
import type { RunRow } from './states.ts';

/**
 * Launches a run that a person has approved. One transaction locks the run against a cancellation, repeats all checks,
 * compares the content with the approved one, and starts the campaign. If the content has changed, the run waits for
 * another approval.
 * @returns the updated run; unchanged if its state is not launching
 */
export async function launchRun(ctx: Ctx, runId: string): Promise<RunRow> {
  const found = await transact(ctx, (tx) => lockRun(tx, runId));
  if (found.state !== 'launching') return found;
  const dns = await readDns(ctx, found.campaign_id);
  return transact(ctx, async (tx) => {
    const run = await lockRun(tx, runId);
    return run.state === 'launching' ? launchApproved(ctx, tx, run, dns) : run;
  });
}

async function launchApproved(ctx: Ctx, tx: Tx, run: RunRow, dns: CampaignDns | undefined): Promise<RunRow> {
  const campaign = await lockCampaign(tx, run.campaign_id).catch(undefinedIfGone);
  if (!campaign || !dns) return failDeletedCampaign(tx, run);
  const refused = await refusedRequester(tx, run);
  if (refused) return denyRun(tx, run, refused);
  const checked = await checkLaunch(tx, campaign, dns);
  const recipients = await countRecipients(tx.org, campaign.id);
  if (!checked.passed) return failChecks(tx, run, checked, recipients);
  const approval = await findApproval(tx.org, run.approval_id!);
  await executeApproved(tx, runLaunch, { run, ready: { campaign, checked, recipients } }, approval, ctx.config);
  return lockRun(tx, run.id);
}
