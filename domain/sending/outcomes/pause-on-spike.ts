import { watchRates } from './spike.ts';
import { declareSubscriber } from '../../platform/events/subscriber.ts';

/**
 * Warns about campaigns with too many bounces or complaints, and pauses them. The rates come from the stored emails and
 * not from the events, so one check per campaign and batch of events is enough.
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
