import type { PolicyReason } from '../../db/json-columns.ts';
import type { CampaignRow } from '../../db/models/campaign.ts';
import { expireApproval } from '../approvals/expire.ts';
import { holdForApproval } from '../approvals/hold.ts';
import { findApproval } from '../approvals/view.ts';
import { launchContent } from '../campaigns/launch-content.ts';
import type { Ctx } from '../kernel/context.ts';
import { transact, type Tx } from '../kernel/transact.ts';
import type { Recipients } from './audience.ts';
import type { LaunchCheck } from './checks.ts';
import { deny } from './end.ts';
import { lockRun, moveRun } from './move.ts';
import { requesterOf } from './requester.ts';
import type { RunRow } from './states.ts';

/** Why a run waits for a person, with what they will see. */
export interface Wait {
  checked: LaunchCheck;
  recipients: Recipients;
  reasons: readonly PolicyReason[];
}

/** Has a locked run wait for a person, who sees what would be sent exactly as it is now. */
export async function holdRun(
  ctx: Ctx,
  tx: Tx,
  run: RunRow,
  campaign: CampaignRow,
  { checked, recipients, reasons }: Wait,
): Promise<RunRow> {
  const approval = await holdForApproval(tx, ctx.config, {
    requester: requesterOf(run),
    capability: 'campaign.launch',
    subject: { type: 'run', id: run.id },
    reasons,
    content: await launchContent(tx.org, campaign, ctx.config),
    preflight: checked.report,
  });
  return (await moveRun(tx, run.id, ['preflighting', 'launching'], 'awaiting_approval', {
    reason: run.state === 'launching' ? 'content_changed' : 'approval_needed',
    data: { approval_id: approval.id },
    preflightReport: checked.report,
    recipients,
    policyDecision: { decision: 'awaiting_approval', reasons: [...reasons] },
    approval: { id: approval.id, expiresAt: approval.expires_at },
  }))!;
}

/**
 * Follows what became of a run's approval: approved, it goes on to the launch; denied or without a decision when its time
 * has passed, it is denied.
 * @returns the run as it is now; one that does not wait, or whose time is not over, is left alone
 */
export async function settleRunApproval(ctx: Ctx, runId: string): Promise<RunRow> {
  return transact(ctx, async (tx) => {
    const run = await lockRun(tx, runId);
    if (run.state !== 'awaiting_approval') return run;
    await expireApproval(tx, run.approval_id!, { signalled: false });
    const approval = await findApproval(tx.org, run.approval_id!);
    switch (approval.status) {
      case 'pending':
        return run;
      case 'approved':
        return (await moveRun(tx, run.id, ['awaiting_approval'], 'launching', {
          reason: 'approved',
          data: { approval_id: approval.id, decided_by: approval.decided_by },
        }))!;
      case 'denied':
        return deny(tx, run, {
          code: 'approval_denied',
          message: approval.reason ? `A person denied the launch: ${approval.reason}` : 'A person denied the launch',
          fix: 'Change what was objected to, and create another run.',
        });
      default:
        return deny(tx, run, {
          code: 'approval_expired',
          message: approval.reason ?? 'The approval ended without a decision',
          fix: 'Create another run, and have a person decide within 30 minutes.',
        });
    }
  });
}
