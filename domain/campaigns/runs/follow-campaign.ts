import { declareSubscriber } from '../../platform/events/subscriber.ts';
import { followCampaigns } from './follow.ts';

/**
 * Updates agent runs to the state of their campaigns: paused, active again, completed, or cancelled with a deleted
 * campaign. Reads each campaign's current state once per batch, so the order of its events does not matter.
 */
export const followCampaign = declareSubscriber({
  name: 'follow_campaign',
  types: ['campaign.started', 'campaign.paused', 'campaign.completed', 'campaign.deleted'],
  startsFrom: 'now',
  applyBatch: (tx, events) => followCampaigns(tx, [...new Set(events.map(({ data }) => data.campaign_id))].sort()),
});
