import { watchRates } from '../engine/outcomes/spike.ts';
import { declareSubscriber } from '../reactions/subscriber.ts';

/**
 * Warns of, and pauses, campaigns whose emails bounce or are complained about too often. However many events a campaign
 * has in a batch, its rates are looked at once: they are counted from the emails, not from the events.
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
