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
}
