import type { CampaignRow } from '../../../db/models/campaign.ts';
import type { AppError } from '../../../lib/errors.ts';
import type { Message } from '../../../messages/index.ts';
import type { Tx } from '../../platform/kernel/transact.ts';
import { checkStart } from '../campaign/launch-checks.ts';
import { activateCampaign } from './status.ts';

/**
 * Restarts a completed, locked campaign because it has somebody to mail again, if its launch checks pass.
 * @param said line of the activity log
 * @returns the error that prevents the restart; null if the campaign was restarted
 */
export async function restartCampaign(tx: Tx, campaign: CampaignRow, said: Message): Promise<AppError | null> {
  const { refusal } = await checkStart(tx.org, campaign, { now: tx.now, byPlatform: true });
  if (!refusal) await activateCampaign(tx, campaign, { type: 'campaign_restarted', message: said });
  return refusal;
}
