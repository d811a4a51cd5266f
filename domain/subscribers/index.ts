import type { Subscriber } from '../reactions/subscriber.ts';
import { deliverToIntegrations } from './deliver-to-integrations.ts';
import { followCampaign } from './follow-campaign.ts';
import { matchGoals } from './match-goals.ts';
import { keepFacts } from './keep-facts.ts';
import { performStepActions } from './perform-step-actions.ts';
import { pauseOnSpike } from './pause-on-spike.ts';
import { promoteWinner } from './promote-winner.ts';
import { runAutomations } from './run-automations.ts';
import { taskForReply } from './task-for-reply.ts';

/** All subscribers of this build. Names are stored in every database: a new name is a new subscriber. */
export const SUBSCRIBERS: readonly Subscriber[] = [
  pauseOnSpike,
  promoteWinner,
  followCampaign,
  keepFacts,
  matchGoals,
  taskForReply,
  performStepActions,
  runAutomations,
  deliverToIntegrations,
];
