import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** One wording of an A/B test, of a step or (null) of the campaign's first email. */
export type CampaignVariantRow = Row<'campaign_variants'>;

export const CampaignVariants = orgEntity('campaign_variants', ['metadata', 'promotion']);
