import { watchRates } from './spike.ts';
import { declareSubscriber } from '../../platform/events/subscriber.ts';

/**
 * Warns of, and pauses, campaigns with too many bounces or complaints. The rates of a campaign are read once per batch
 * of events: they are counted from the emails, not from the events.
 */
export const pauseOnSpike = declareSubscriber({
  name: 'pause_on_spike',
  types: ['campaign.email_bounced', 'deliverability.complaint'],
  startsFrom: 'now',
  async applyBatch(tx, events) {
    const campaignIds = new Set(events.flatMap(({ data }) => (data.campaign_id ? [data.campaign_id] : [])));
    for (const campaignId of [...campaignIds].sort()) await watchRates(tx, campaignId);
  },
});
