import type { Columns } from '../../../db/rows.ts';
import { decodeIdCursor, encodeCursor, pageOf, type Page, type PageRequest } from '../../../lib/cursor.ts';
import { AppError, notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { findCampaign } from '../../sending/campaign/find.ts';
import { logCampaign } from '../../sending/campaign/log.ts';
import { assertLeadAllowed } from '../../sending/campaign/sender-pool.ts';
import { signalRetry } from '../../sending/control/signals.ts';
import type { Ctx } from '../../platform/kernel/context.ts';
import { reader, transact, type Tx } from '../../platform/kernel/transact.ts';
import { message } from '../../../messages/index.ts';
import type { StoredIssue } from '../../../db/json-columns.ts';

/** One execution of one step for one contact, as API responses contain it. */
export interface StepRunView extends Columns<
  'step_runs',
  | 'id'
  | 'campaign_id'
  | 'contact_id'
  | 'enrollment_id'
  | 'step_id'
  | 'kind'
  | 'state'
  | 'outcome'
  | 'detail'
  | 'attempts'
  | 'started_at'
  | 'completed_at'
> {
  /** Null when the step was deleted. */
  step_name: string | null;
  error: StoredIssue | null;
}

const VIEW = `r.id, r.campaign_id, r.contact_id, r.enrollment_id, r.step_id, s.name as step_name, r.kind, r.state, r.outcome, r.detail,
  r.attempts, r.error, r.started_at, r.completed_at`;

/**
 * Lists the blocked step runs of a campaign, newest first. Contacts at these steps wait until a person retries them.
 * @throws AppError not_found, bad_request for the cursor of another list
 */
export async function listBlockedRuns(ctx: Ctx, campaignId: string, request: PageRequest): Promise<Page<StepRunView>> {
  const org = reader(ctx);
  await findCampaign(org, campaignId);
  const after = decodeIdCursor('step_runs.blocked', campaignId, request.cursor);
  const rows = await org.sql<StepRunView>(
    `select ${VIEW} from step_runs r left join campaign_steps s on s.id = r.step_id
     where r.organization_id = :org and r.campaign_id = :campaign and r.state = 'blocked' and (cast(:after as uuid) is null or r.id < cast(:after as uuid))
     order by r.id desc limit :limit`,
    { campaign: campaignId, after: after ?? null, limit: request.limit + 1 },
  );
  return pageOf(rows, request.limit, (last) => encodeCursor('step_runs.blocked', campaignId, [last.id]));
}

/**
 * Retries a blocked step run with its full number of attempts (POST /campaigns/:id/step-runs/:runId/retry).
 * @throws AppError not_found, conflict when the run is not blocked, forbidden when the lead would be mailed from
 * mailboxes that the caller's key may not use
 */
export async function retryStepRun(ctx: Ctx, campaignId: string, runId: string): Promise<StepRunView> {
  return transact(ctx, async (tx) => {
    const campaign = await findCampaign(tx.org, campaignId);
    const found = isUuid(runId) ? await lockRun(tx, campaignId, runId) : undefined;
    if (!found) throw notFound('step_run');
    const { lead, run } = found;
    await assertLeadAllowed(tx, campaign, lead);
    if (run.state !== 'blocked') {
      throw new AppError('conflict', message('step_runs.not_blocked'), {
        fix: message('step_runs.not_blocked.fix', { state: run.state }),
      });
    }
    await tx.org
      .table('step_runs')
      .where({ id: runId })
      .update({ state: 'running', outcome: null, attempts: 0, error: null, detail: null, completed_at: null });
    await tx.org
      .table('enrollments')
      .where({ id: run.enrollment_id })
      .update({ blocked: false, last_activity_at: tx.now });
    signalRetry(tx, { campaign_id: campaignId, contact_id: run.contact_id }, { cause: 'operator', stepRunId: runId });
    await logCampaign(tx, campaignId, 'step_retried', message('log.step_retried', { step: run.step_name ?? '' }), {
      step_id: run.step_id,
      contact_id: run.contact_id,
      step_run_id: runId,
    });
    tx.audit({
      action: 'step_run.retried',
      entityType: 'step_run',
      entityId: runId,
      metadata: { campaign_id: campaignId },
    });
    return { ...run, state: 'running', outcome: null, attempts: 0, error: null, detail: null, completed_at: null };
  });
}

/** Locks the enrollment before its step run, as all writers do. */
async function lockRun(
  tx: Tx,
  campaignId: string,
  runId: string,
): Promise<{ lead: Columns<'enrollments', 'mailbox_id'>; run: StepRunView } | undefined> {
  const [lead] = await tx.org.sql<Columns<'enrollments', 'mailbox_id'>>(
    `select e.mailbox_id from enrollments e where e.organization_id = :org
       and e.id = (select enrollment_id from step_runs where organization_id = :org and campaign_id = :campaign and id = :run) for update`,
    { campaign: campaignId, run: runId },
  );
  const [run] = await tx.org.sql<StepRunView>(
    `select ${VIEW} from step_runs r left join campaign_steps s on s.id = r.step_id
     where r.organization_id = :org and r.campaign_id = :campaign and r.id = :run for update of r`,
    { campaign: campaignId, run: runId },
  );
  return lead && run && { lead, run };
}
