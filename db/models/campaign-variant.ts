import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** One text variant of an A/B test. Belongs to a step, or (null) to the campaign's first email. */
export type CampaignVariantRow = Row<'campaign_variants'>;

export const CampaignVariants = orgEntity('campaign_variants', ['metadata', 'promotion']);
