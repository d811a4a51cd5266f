import type { Columns } from '../../../db/rows.ts';
import { Campaigns, type CampaignRow, type CampaignStatus } from '../../../db/models/campaign.ts';
import { notFound, inWords } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';
import { signalLauncher } from './signals.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { releaseReservedSends } from './release.ts';
import { logCampaign, type CampaignLogType } from '../campaign/log.ts';
import { message, type Message } from '../../../messages/index.ts';

/** The statuses of a campaign that is stopped and can be started. */
type PausedStatus = Extract<CampaignStatus, `paused${string}`>;
export const PAUSED_STATUSES: readonly PausedStatus[] = [
  'paused',
  'paused_no_accounts',
  'paused_trial_expired',
  'paused_undeliverable',
];

/**
 * Loads the campaign with a row lock, so that concurrent status changes and additions of leads are serialized.
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
  /** Turn `continuous` on: every lead has finished and the campaign waits for more. */
  waitForLeads?: boolean;
}

/** Makes a locked campaign active and signals its launcher, which signals every run. Nothing happens to an active one. */
export async function activateCampaign(
  tx: Tx,
  campaign: CampaignRow,
  { type, message: said, waitForLeads = false }: Activation,
): Promise<boolean> {
  const [moved] = await tx.org.sql<{ epoch: number }>(
    `update campaigns set status = 'active', control_epoch = control_epoch + 1, last_status_change_at = :now, updated_at = :now,
       started_at = coalesce(started_at, :now), continuous = continuous or :wait, idle_since = case when :wait then :now::timestamptz end
     where organization_id = :org and id = :id and status <> 'active' returning control_epoch as epoch`,
    { id: campaign.id, now: tx.now, wait: waitForLeads },
  );
  if (!moved) return false;
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
 * Pauses a campaign if it is active: reserved slots are released, the launcher signals every run. A
 * send that a worker has claimed finishes. The engine calls it when the pool is empty, inbound when bounces spike.
 * @param reason kept in the activity log
 * @param from statuses it is paused from; a start that finds no deliverable lead parks the campaign from any
 * @returns whether this call paused it
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
  tx.emit('campaign.paused', { campaign_id: campaignId, name: moved.name, status, reason: inWords(reason) });
  signalLauncher(tx, campaignId, 'paused', moved.epoch);
  return true;
}

/**
 * Completes an active campaign whose leads have all finished; a continuous one stays active and idles instead. The
 * campaign is locked before its leads are looked at, so a lead added at the same moment keeps it open.
 * @returns what became of it; `busy` when leads are left or it is not active
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
 * Whether a lead of the campaign has not finished. Each state has an index of its own, and asking for the first in its
 * order is what makes PostgreSQL use it: it cannot know that of a large campaign all but the last few have finished.
 */
export async function hasOpenLeads(tx: Tx, campaignId: string): Promise<boolean> {
  const [row] = await tx.org.sql<{ open: boolean }>(
    `select (select id from enrollments where organization_id = :org and campaign_id = :id and state = 'active' order by signalled_epoch limit 1) is not null
       or (select id from enrollments where organization_id = :org and campaign_id = :id and state = 'pending' order by entered_at, id limit 1) is not null as open`,
    { id: campaignId },
  );
  return row!.open;
}
