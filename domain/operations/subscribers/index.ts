import type { Subscriber } from '../../platform/events/subscriber.ts';
import { deliverToIntegrations } from '../../connect/integrations/deliver-to-integrations.ts';
import { followCampaign } from '../../campaigns/runs/follow-campaign.ts';
import { matchGoals } from '../../reporting/goals/match-goals.ts';
import { updateFacts } from '../../reporting/aggregates/update-facts.ts';
import { performStepActions } from '../../crm/perform-step-actions.ts';
import { pauseOnSpike } from '../../sending/outcomes/pause-on-spike.ts';
import { promoteWinner } from '../../sending/outcomes/promote-winner.ts';
import { stopCompany } from '../../sending/outcomes/stop-company.ts';
import { runAutomations } from '../../connect/automations/run-automations.ts';
import { taskForReply } from '../../crm/task-for-reply.ts';

/**
 * All subscribers of this build. Their names are stored in every database, so a subscriber with a changed name is
 * treated as a new one.
 */
export const SUBSCRIBERS: readonly Subscriber[] = [
  pauseOnSpike,
  promoteWinner,
  stopCompany,
  followCampaign,
  updateFacts,
  matchGoals,
  taskForReply,
  performStepActions,
  runAutomations,
  deliverToIntegrations,
];
