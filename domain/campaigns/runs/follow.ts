import type { Columns } from '../../../db/rows.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { endCancelled } from './cancel.ts';
import { lockRun, moveRun } from './move.ts';
import { LAUNCHED_STATES, hasEnded, type RunRow, type RunState } from './states.ts';

/**
 * Sets the states of runs to the current states of their campaigns: paused, active again or completed. Runs of a
 * deleted campaign are cancelled, whatever their state. Only the campaign's current state is used, so the order of its
 * events does not matter. A run that already has its campaign's state is not locked. Most runs have it, because a
 * launch changes the campaign and the run together.
 */
export async function followCampaigns(tx: Tx, campaignIds: readonly string[]): Promise<void> {
  const rows = await tx.org.sql<Columns<'runs', 'id'>>(
    `select r.id from runs r left join campaigns c on c.organization_id = :org and c.id = r.campaign_id
     where r.organization_id = :org and r.campaign_id = any(:campaigns::uuid[])
       and r.state not in ('completed', 'failed', 'denied', 'cancelled')
       and (c.id is null or c.status <> 'draft'
         and r.state <> case c.status when 'active' then 'active' when 'completed' then 'completed' else 'paused' end)
     order by r.id`,
    { campaigns: campaignIds },
  );
  for (const { id } of rows) await follow(tx, await lockRun(tx, id));
}

async function follow(tx: Tx, run: RunRow): Promise<void> {
  const [campaign] = await tx.org.sql<Columns<'campaigns', 'status'>>(
    'select status from campaigns where organization_id = :org and id = :id',
    { id: run.campaign_id },
  );
  if (hasEnded(run.state)) return;
  if (!campaign) await endCancelled(tx, run, 'campaign_deleted');
  else if (campaign.status === 'active') await move(tx, run, 'active', 'campaign_resumed');
  else if (campaign.status === 'completed') await move(tx, run, 'completed', 'campaign_completed');
  else if (campaign.status !== 'draft') await move(tx, run, 'paused', 'campaign_paused', { status: campaign.status });
}

async function move(tx: Tx, run: RunRow, to: RunState, reason: string, data = {}): Promise<void> {
  if (run.state !== to) await moveRun(tx, run.id, LAUNCHED_STATES, to, { reason, data });
}
