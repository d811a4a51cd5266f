import type { Subscriber } from '../reactions/subscriber.ts';
import { followCampaign } from './follow-campaign.ts';
import { keepFacts } from './keep-facts.ts';
import { pauseOnSpike } from './pause-on-spike.ts';
import { promoteWinner } from './promote-winner.ts';

/** All subscribers of this build. Names are stored in every database: a new name is a new subscriber. */
export const SUBSCRIBERS: readonly Subscriber[] = [pauseOnSpike, promoteWinner, followCampaign, keepFacts];
