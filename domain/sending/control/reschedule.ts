import { Campaigns } from '../../../db/models/campaign.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { logCampaign } from '../campaign/log.ts';
import { hasSender } from '../campaign/sender-pool.ts';
import { releaseReservedSends } from './release.ts';
import { addRechecks, rescheduled } from './rechecks.ts';
import { signalLauncher } from './signals.ts';
import { isPaused, pauseCampaign } from './status.ts';
import { message, type Message } from '../../../messages/index.ts';

/**
 * Releases every reserved slot of an active campaign. Its launcher then signals the workflows that had a slot or wait
 * for one.
 * @param options.entryDelay also signals workflows that wait for the start of their first email
 */
export async function reschedule(
  tx: Tx,
  campaignId: string,
  why: Message,
  options?: { entryDelay: boolean },
): Promise<void> {
  await addRechecks(tx, campaignId, rescheduled(options));
  await releaseReservedSends(tx, { campaignId });
  await logCampaign(tx, campaignId, 'campaign_rescheduled', why);
}

/**
 * Applies a changed sender pool to an active campaign, whose contacts then request new slots. Pauses a campaign whose
 * explicit pool is empty. The workflows of a paused campaign are signalled when it resumes.
 */
export async function applyPoolChange(tx: Tx, campaignId: string): Promise<void> {
  const campaign = (await tx.org.query(Campaigns).findById(campaignId))!;
  if (isPaused(campaign)) return addRechecks(tx, campaignId, rescheduled());
  if (campaign.status !== 'active') return;
  if (campaign.sender_strategy === 'explicit' && !(await hasSender(tx.org, campaign))) {
    await pauseCampaign(tx, campaignId, 'paused_no_accounts', message('log.no_mailbox'));
    return;
  }
  await reschedule(tx, campaignId, message('log.pool_changed'));
  signalLauncher(tx, campaignId, 'edited');
}
