import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** One node of a campaign's step graph. */
export type CampaignStepRow = Row<'campaign_steps'>;

export const CampaignSteps = orgEntity('campaign_steps', ['conditions', 'action']);
