import { promoteWinners } from './promote-variant.ts';
import { declareSubscriber } from '../../platform/events/subscriber.ts';

/**
 * Chooses the winner of an A/B test after recipients have reacted. The winner is computed from the stored emails, so
 * one comparison per campaign and batch of events is enough, and the order of events does not matter.
 */
export const promoteWinner = declareSubscriber({
  name: 'promote_winner',
  types: ['campaign.email_opened', 'campaign.email_clicked', 'campaign.reply_received'],
  startsFrom: 'now',
  async applyBatch(tx, events) {
    const campaignIds = new Set(events.flatMap(({ data }) => (data.campaign_id ? [data.campaign_id] : [])));
    for (const campaignId of [...campaignIds].sort()) await promoteWinners(tx, campaignId);
  },
});
