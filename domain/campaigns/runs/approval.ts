import type { PolicyReason } from '../../../db/json-columns.ts';
import type { CampaignRow } from '../../../db/models/campaign.ts';
import type { Config } from '../../../lib/config/index.ts';
import { expireApprovals } from '../../approvals/expire.ts';
import { holdForApproval } from '../../approvals/hold.ts';
import { endReason, findApproval } from '../../approvals/view.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { subjectOf } from '../../platform/kernel/approval-subjects.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import type { Recipients } from './audience.ts';
import type { LaunchCheck } from './checks.ts';
import { denyRun, type RunError } from './end.ts';
import { moveRun, moveRuns } from './move.ts';
import { requesterOf } from './requester.ts';
import type { RunRow } from './states.ts';
import { message, type Message } from '../../../messages/index.ts';

/** Maximum number of runs denied in one transaction. */
const AT_ONCE = 200;

const EXPIRED: RunError = {
  code: 'approval_expired',
  message: message('runs.approval_expired'),
  fix: message('runs.approval_expired.fix'),
};

/** A locked agent run. `ready` is set once the launch checks have passed in this transaction. */
export interface LaunchedRun {
  run: RunRow;
  ready: { campaign: CampaignRow; checked: LaunchCheck; recipients: Recipients } | null;
}

/** Reasons why a run needs a person's approval, and the check results shown to that person. */
interface Wait {
  checked: LaunchCheck;
  recipients: Recipients;
  reasons: readonly PolicyReason[];
}

/**
 * Creates an approval for a locked run, with the content that would be sent now, and sets the run's state to
 * awaiting_approval.
 */
export async function holdRun(
  config: Config,
  tx: Tx,
  run: RunRow,
  campaign: CampaignRow,
  { checked, recipients, reasons }: Wait,
): Promise<RunRow> {
  const approval = await holdForApproval(tx, config, {
    requester: requesterOf(run),
    capability: 'campaign.launch',
    subject: subjectOf(tx, 'run'),
    subjectId: run.id,
    reasons,
    locked: { run, ready: { campaign, checked, recipients } } satisfies LaunchedRun,
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
 * Denies a locked run that waits for a person, if its approval has expired or ended.
 * @returns the updated run; unchanged while its approval is pending
 */
export async function expireRun(tx: Tx, run: RunRow): Promise<RunRow> {
  await expireApprovals(tx, [run.approval_id!]);
  const approval = await findApproval(tx.org, run.approval_id!);
  return approval.status === 'pending' ? run : denyUndecided(tx, run, endReason(approval, tx.now));
}

/** Denies a locked run whose approval ended without a decision. */
export function denyUndecided(tx: Tx, run: RunRow, reason: Message | null): Promise<RunRow> {
  return denyRun(tx, run, { ...EXPIRED, message: reason ?? EXPIRED.message });
}

/** Returns true if a run was denied because nobody decided in time. */
export function hasExpired(run: RunRow): boolean {
  return run.state === 'denied' && run.error_details?.code === EXPIRED.code;
}

/**
 * Denies up to {@link AT_ONCE} runs of the workspace whose approval has expired, with as many statements as for one
 * run. Therefore when thousands of runs expire together, each workflow denies many of them. Runs locked by another
 * transaction are skipped.
 * @returns the number of denied runs
 */
export async function denyOverdueRuns(ctx: Ctx): Promise<number> {
  return transact(ctx, async (tx) => {
    const due = await tx.org.sql<{ id: string; approval_id: string }>(
      `select r.id, r.approval_id from approvals a join runs r on r.id = a.subject_id and r.approval_id = a.id
       where a.organization_id = :org and r.organization_id = :org and a.status = 'pending' and a.expires_at <= :now
         and a.subject_type = 'run' and r.state = 'awaiting_approval'
       limit :limit for update of r skip locked`,
      { now: tx.now, limit: AT_ONCE },
    );
    if (due.length === 0) return 0;
    const ended = await expireApprovals(
      tx,
      due.map((run) => run.approval_id),
    );
    const ids = ended.map(({ subject_id: runId }) => runId);
    await moveRuns(tx, ids, ['awaiting_approval'], 'denied', { reason: EXPIRED.code, errorDetails: EXPIRED });
    return ids.length;
  });
}
