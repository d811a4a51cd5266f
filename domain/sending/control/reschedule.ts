import { Campaigns } from '../../../db/models/campaign.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { logCampaign } from '../campaign/log.ts';
import { hasSender } from '../campaign/sender-pool.ts';
import { releaseReservedSends } from './release.ts';
import { signalLauncher } from './signals.ts';
import { pauseCampaign } from './status.ts';
import { message, type Message } from '../../../messages/index.ts';

/**
 * Releases every reserved slot of an active campaign and raises its control epoch. Its launcher then signals the
 * workflows, which request new slots.
 */
export async function reschedule(tx: Tx, campaignId: string, why: Message): Promise<void> {
  await tx.org.sql('update campaigns set control_epoch = control_epoch + 1 where organization_id = :org and id = :id', {
    id: campaignId,
  });
  await releaseReservedSends(tx, { campaignId });
  await logCampaign(tx, campaignId, 'campaign_rescheduled', why);
}

/**
 * Applies a changed sender pool to an active campaign: its contacts request new slots. Pauses a campaign whose explicit
 * pool is empty.
 */
export async function applyPoolChange(tx: Tx, campaignId: string): Promise<void> {
  const campaign = (await tx.org.query(Campaigns).findById(campaignId))!;
  if (campaign.status !== 'active') return;
  if (campaign.sender_strategy === 'explicit' && !(await hasSender(tx.org, campaign))) {
    await pauseCampaign(tx, campaignId, 'paused_no_accounts', message('log.no_mailbox'));
    return;
  }
  await reschedule(tx, campaignId, message('log.pool_changed'));
  signalLauncher(tx, campaignId, 'edited');
}
