import { AppError } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { releaseReservedSends } from '../../sending/control/release.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { transact } from '../../platform/kernel/transact.ts';
import { lockTestRun, OPEN_TEST_RUN, signalCancelled } from '../../sending/control/test-runs.ts';
import { testRunNotFound, viewTestRun, type TestRunView } from './read.ts';
import { message } from '../../../messages/index.ts';

/**
 * Ends a test run at its current step. An email that a worker is sending is still delivered. A test run that is already
 * cancelled is returned unchanged.
 * @throws AppError event_run_not_found when the campaign has no such run; conflict when the run has finished
 */
export async function cancelTestRun(ctx: Ctx, campaignId: string, id: string): Promise<TestRunView> {
  return transact(ctx, async (tx) => {
    const run = isUuid(id) ? await lockTestRun(tx, id) : undefined;
    if (run?.campaign_id !== campaignId.toLowerCase()) throw testRunNotFound();
    if (run.state === 'completed' || run.state === 'failed')
      throw new AppError('conflict', message('tests.ended', { state: run.state }), {
        fix: message('nothing_to_cancel.fix'),
      });
    if (run.state === 'cancelled') return viewTestRun(tx.org, run.campaign_id, id);
    const [step] = await tx.org.sql<{ id: string }>(
      `update test_run_steps set state = 'skipped', outcome = 'cancelled', completed_at = :now
       where organization_id = :org and test_run_id = :id and state in ('running', 'waiting') returning id`,
      { id, now: tx.now },
    );
    if (step) await releaseReservedSends(tx, { sendId: step.id });
    await tx.org.table('test_runs').where({ id }).whereIn('state', OPEN_TEST_RUN).update({
      state: 'cancelled',
      waiting_for: null,
      waiting_until: null,
      blocked_reason: null,
      updated_at: tx.now,
      completed_at: tx.now,
    });
    signalCancelled(tx, id);
    tx.audit({
      action: 'test_cancelled',
      entityType: 'campaign',
      entityId: run.campaign_id,
      metadata: { test_run_id: id },
    });
    return viewTestRun(tx.org, run.campaign_id, id);
  });
}
