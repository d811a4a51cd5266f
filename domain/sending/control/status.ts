import type { Columns } from '../../../db/rows.ts';
import { Campaigns, type CampaignRow, type CampaignStatus } from '../../../db/models/campaign.ts';
import { notFound } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { signalLauncher } from './signals.ts';
import { ADD_RECHECKS, RESUMED } from './rechecks.ts';
import { json } from '../../../db/connection.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { assertOwnWorkspaceStays, DELETION_SCHEDULED } from '../../platform/workspace-deletion.ts';
import { releaseReservedSends } from './release.ts';
import { logCampaign, type CampaignLogType } from '../campaign/log.ts';
import { message, type Message } from '../../../messages/index.ts';
import { codedReason } from '../../platform/coded-reason.ts';
import { render } from '../../../messages/render.ts';

/** Statuses of a campaign that is stopped and can be started. */
type PausedStatus = Extract<CampaignStatus, `paused${string}`>;
export const PAUSED_STATUSES: readonly PausedStatus[] = [
  'paused',
  'paused_no_accounts',
  'paused_trial_expired',
  'paused_undeliverable',
];

/**
 * Returns true for a campaign that is stopped and can be started. Its enrollment workflows may be waiting for the
 * campaign to resume.
 */
export function isPaused({ status }: Pick<CampaignRow, 'status'>): boolean {
  return (PAUSED_STATUSES as readonly CampaignStatus[]).includes(status);
}

/**
 * Loads the campaign and locks its row, so that concurrent status changes and additions of leads wait for each other.
 * @throws AppError not_found
 */
export async function lockCampaign(tx: Tx, campaignId: string): Promise<CampaignRow> {
  if (!isUuid(campaignId)) throw notFound('campaign');
  const [campaign] = await tx.org.sql<CampaignRow>(
    'select * from campaigns where organization_id = :org and id = :id for no key update',
    { id: campaignId },
  );
  if (!campaign) throw notFound('campaign');
  return campaign;
}

interface Activation {
  type: Extract<CampaignLogType, 'campaign_started' | 'campaign_restarted'>;
  message: Message;
  /** If true, sets `continuous`, so that a campaign whose leads have all finished waits for more. */
  waitForLeads?: boolean;
}

/**
 * Activates a locked campaign and signals its launcher, which signals the workflows that lost their slot or woke during
 * the pause. Returns false for a campaign that is active already.
 * @throws AppError workspace_deletion_scheduled
 */
export async function activateCampaign(
  tx: Tx,
  campaign: CampaignRow,
  { type, message: said, waitForLeads = false }: Activation,
): Promise<boolean> {
  // Workflows wait for a resume only if the campaign is paused.
  const resumes = isPaused(campaign);
  const [moved] = await tx.org.sql<{ epoch: number }>(
    `update campaigns set status = 'active', archived = false, control_epoch = control_epoch + 1, ${resumes ? `${ADD_RECHECKS}, ` : ''}last_status_change_at = :now, updated_at = :now,
       started_at = coalesce(started_at, :now), continuous = continuous or :wait, idle_since = case when :wait then :now::timestamptz end
     where organization_id = :org and id = :id and status <> 'active' and not ${DELETION_SCHEDULED} returning control_epoch as epoch` as `${string}:org${string}`,
    { id: campaign.id, now: tx.now, wait: waitForLeads, ...(resumes ? { rechecks: json(RESUMED) } : {}) },
  );
  if (!moved) {
    await assertOwnWorkspaceStays(tx);
    return false;
  }
  await logCampaign(tx, campaign.id, type, said, { previous_status: campaign.status });
  tx.emit('campaign.started', {
    campaign_id: campaign.id,
    name: campaign.name,
    status: 'active',
    previous_status: campaign.status,
  });
  signalLauncher(tx, campaign.id, 'started', moved.epoch);
  return true;
}

/**
 * Pauses a campaign in one of the statuses `from`: releases reserved slots, and its launcher ends. Signals no workflow,
 * because each one checks the status before it acts, and no email of a paused campaign is claimed. Emails already
 * claimed by a worker are still sent. The launcher calls it for an empty pool, and the `pause_on_spike` subscriber for
 * too many bounces or complaints.
 * @param reason stored in the activity log
 * @param from statuses from which to pause; a start that finds no deliverable lead pauses the campaign from any status
 * @returns true if this call paused it
 */
export async function pauseCampaign(
  tx: Tx,
  campaignId: string,
  status: PausedStatus,
  reason: Message,
  from: readonly CampaignStatus[] = ['active'],
): Promise<boolean> {
  const [moved] = await tx.org.sql<Columns<'campaigns', 'name'> & { epoch: number }>(
    `update campaigns set status = :status, control_epoch = control_epoch + 1, last_status_change_at = :now, updated_at = :now, idle_since = null
     where organization_id = :org and id = :id and status = any(:from) and status <> :status returning name, control_epoch as epoch`,
    { id: campaignId, status, from, now: tx.now },
  );
  if (!moved) return false;
  await releaseReservedSends(tx, { campaignId });
  await logCampaign(tx, campaignId, 'campaign_paused', reason, { status });
  tx.emit('campaign.paused', {
    campaign_id: campaignId,
    name: moved.name,
    status,
    reason: render(reason),
    ...codedReason(reason),
  });
  signalLauncher(tx, campaignId, 'paused', moved.epoch);
  return true;
}

/**
 * Completes an active campaign whose leads have all finished. A continuous campaign stays active and becomes idle.
 * Locks the campaign before checking its leads, so that a concurrently added lead keeps it open.
 * @returns `busy` if leads are open or the campaign is not active
 */
export async function completeCampaign(tx: Tx, campaignId: string): Promise<'completed' | 'idle' | 'busy'> {
  const campaign = await lockCampaign(tx, campaignId);
  if (campaign.status !== 'active' || (await hasOpenLeads(tx, campaignId))) return 'busy';
  if (campaign.continuous) {
    await tx.org.query(Campaigns).findById(campaignId).whereNull('idle_since').patch({ idle_since: tx.now });
    return 'idle';
  }
  await tx.org
    .query(Campaigns)
    .findById(campaignId)
    .patch({ status: 'completed', last_status_change_at: tx.now, updated_at: tx.now });
  await logCampaign(tx, campaignId, 'campaign_completed', message('log.all_leads_finished'));
  tx.emit('campaign.completed', { campaign_id: campaignId, name: campaign.name });
  return 'completed';
}

/**
 * Returns true if the campaign has an unfinished lead. Each state has its own index. The query requests the first row
 * in index order, so that PostgreSQL uses the index even if almost all leads of a large campaign have finished.
 */
export async function hasOpenLeads(tx: Tx, campaignId: string): Promise<boolean> {
  const [row] = await tx.org.sql<{ open: boolean }>(
    `select (select id from enrollments where organization_id = :org and campaign_id = :id and state = 'active' order by waiting_until limit 1) is not null
       or (select id from enrollments where organization_id = :org and campaign_id = :id and state = 'pending' order by entered_at, id limit 1) is not null as open`,
    { id: campaignId },
  );
  return row!.open;
}
