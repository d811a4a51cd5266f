import { declareSubscriber } from '../../platform/events/subscriber.ts';
import { followCampaigns } from './follow.ts';

/**
 * Has agent runs follow their campaigns: paused, active again, completed, cancelled with a campaign that is deleted. Campaigns are
 * looked at as they are, so many events of one are one look, and their order does not matter.
 */
export const followCampaign = declareSubscriber({
  name: 'follow_campaign',
  types: ['campaign.started', 'campaign.paused', 'campaign.completed', 'campaign.deleted'],
  startsFrom: 'now',
  applyBatch: (tx, events) => followCampaigns(tx, [...new Set(events.map(({ data }) => data.campaign_id))].sort()),
});
