import { orgEntity, OrgModel } from './model.ts';

/** One wording of an A/B test, of a step or (null) of the campaign's first email (supplement, CampaignABVariant). */
export class CampaignVariantRow extends OrgModel {
  static override tableName = 'campaign_variants';
  static override jsonAttributes = ['metadata'];

  campaign_id!: string;
  step_id!: string | null;
  name!: string;
  weight!: number;
  subject!: string;
  body_html!: string;
  body_plain!: string;
  is_control!: boolean;
  is_active!: boolean;
  metadata!: Record<string, unknown>;
}

export const CampaignVariants = orgEntity(CampaignVariantRow);
