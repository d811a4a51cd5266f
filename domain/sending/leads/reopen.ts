import type { CampaignRow } from '../../../db/models/campaign.ts';
import { AppError } from '../../../lib/errors.ts';
import { message } from '../../../messages/index.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { restartCampaign } from '../control/restart.ts';

/**
 * Reopens a lead whose sequence was ended by a reply. The campaign is locked. The lead continues at its last step: an
 * email or a wait is resumed, and any other step is skipped. A completed campaign starts again.
 * @throws AppError conflict when a completed campaign cannot start
 */
export async function reopenLead(tx: Tx, campaign: CampaignRow, { id }: { id: string }): Promise<void> {
  await tx.org.sql(
    `with stopped as (
       select id from step_runs where organization_id = :org and enrollment_id = :id order by seq desc limit 1
     ), taken_up as (
       update step_runs r set state = 'running', outcome = null, completed_at = null
       from stopped where r.id = stopped.id and r.state = 'skipped' and r.outcome = 'replied' and r.kind in ('email', 'wait')
     ), passed_over as (
       update step_runs r set outcome = 'skipped'
       from stopped where r.id = stopped.id and r.state = 'skipped' and r.outcome = 'replied' and r.kind not in ('email', 'wait')
     )
     update enrollments set state = case when launched_at is null then 'pending' else 'active' end, finished_at = null, failure_reason = null,
       blocked = false, last_activity_at = :now
     where organization_id = :org and id = :id`,
    { id, now: tx.now },
  );
  if (campaign.status !== 'completed') return;
  const refusal = await restartCampaign(tx, campaign, message('log.restarted_for_leads'));
  if (refusal) throw new AppError('conflict', message('campaigns.cannot_restart', { reason: refusal.said }));
}
