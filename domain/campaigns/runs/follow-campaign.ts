import { declareSubscriber } from '../../platform/events/subscriber.ts';
import { followCampaigns } from './follow.ts';

/**
 * Sets the states of agent runs to those of their campaigns: paused, active again or completed. A run of a deleted
 * campaign is cancelled. Reads each campaign's current state once per batch, so the order of its events does not
 * matter.
 */
export const followCampaign = declareSubscriber({
  name: 'follow_campaign',
  types: ['campaign.started', 'campaign.paused', 'campaign.completed', 'campaign.deleted'],
  startsFrom: 'now',
  applyBatch: (tx, events) => followCampaigns(tx, [...new Set(events.map(({ data }) => data.campaign_id))].sort()),
});
