import { AppError } from '../../../lib/errors.ts';
import { signalOpen } from '../../../temporal/dispatch.ts';
import { runWorkflow, type RunSignals } from '../../../workflows/run/contract.ts';
import { endApproval } from '../../approvals/expire.ts';
import { pauseCampaign } from '../../sending/control/status.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact, type Tx } from '../../platform/kernel/transact.ts';
import { lockRun, moveRun } from './move.ts';
import { LAUNCHED_STATES, RUN_STATES, hasEnded, type RunRow } from './states.ts';
import { message } from '../../../messages/index.ts';

/**
 * Cancels a run that has not ended (POST /runs/:id/cancel). Before the launch no email is sent, and the campaign stays
 * a draft. If a launch runs at the same time, the run's lock decides: the launch does not happen, or the launched
 * campaign is paused again. The campaign of an active run is paused; emails already sent are not affected. A run that
 * is already cancelled is returned unchanged.
 * @throws AppError not_found; conflict when the run has already ended for another reason
 */
export async function cancelRun(ctx: Ctx, runId: string): Promise<RunRow> {
  return transact(ctx, async (tx) => {
    const run = await lockRun(tx, runId);
    if (run.state === 'cancelled') return run;
    if (hasEnded(run.state))
      throw new AppError('conflict', message('runs.too_late_to_cancel', { state: run.state }), {
        fix: run.state === 'completed' ? message('runs.pause_instead.fix') : message('nothing_to_cancel.fix'),
      });
    return endCancelled(tx, run, 'request');
  });
}

/**
 * Cancels a locked run that has not ended: ends its approval, signals its workflow, and pauses a campaign that it
 * launched.
 */
export async function endCancelled(tx: Tx, run: RunRow, cause: RunSignals['cancelled']['cause']): Promise<RunRow> {
  if (run.approval_id) await endApproval(tx, run.approval_id, message('approval.run_cancelled'));
  if (cause === 'request' && (LAUNCHED_STATES as readonly string[]).includes(run.state))
    await pauseCampaign(tx, run.campaign_id, 'paused', message('log.run_cancelled'));
  const moved = await moveRun(tx, run.id, RUN_STATES, 'cancelled', { reason: cause });
  tx.intend(signalOpen(runWorkflow, { organizationId: tx.org.organizationId, runId: run.id }, 'cancelled', { cause }));
  return moved!;
}
