/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface CampaignVariantsRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  /** Null: the campaign's first email. */
  step_id: string | null;
  name: string;
  weight: number;
  subject: string;
  body_html: string;
  body_plain: string;
  is_control: boolean;
  is_active: boolean;
  metadata: JsonObject;
  created_at: Date;
  updated_at: Date;
  /** Since when all further emails of its step are written as it says. */
  promoted_at: Date | null;
  /** The rule it won by, and the counts of all variants then. */
  promotion: JsonObject | null;
  offer: string;
  angle: string;
  cta: string;
}

export interface CampaignVariantsInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  step_id?: string | null;
  name: string;
  weight?: number;
  subject?: string;
  body_html?: string;
  body_plain?: string;
  is_control?: boolean;
  is_active?: boolean;
  metadata?: string;
  created_at: Date;
  updated_at: Date;
  promoted_at?: Date | null;
  promotion?: string | null;
  offer?: string;
  angle?: string;
  cta?: string;
}
