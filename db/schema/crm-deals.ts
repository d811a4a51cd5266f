/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface CrmDealsRow {
  id: string;
  organization_id: string;
  pipeline_id: string;
  stage_id: string;
  contact_id: string | null;
  name: string;
  /** In the currency's smallest unit. */
  value_minor: number | null;
  /** ISO 4217, upper-case. */
  currency: string;
  value_scaled: number | null;
  status: 'open' | 'won' | 'lost';
  expected_close_date: Date | null;
  won_at: Date | null;
  lost_at: Date | null;
  lost_reason: string | null;
  /** A member; null once they have left the workspace. */
  assigned_to: string | null;
  campaign_id: string | null;
  source_mailbox_id: string | null;
  created_at: Date;
  updated_at: Date;
}

export interface CrmDealsInsert {
  id: string;
  organization_id: string;
  pipeline_id: string;
  stage_id: string;
  contact_id?: string | null;
  name: string;
  value_minor?: number | null;
  currency: string;
  value_scaled?: number | null;
  status?: 'open' | 'won' | 'lost';
  expected_close_date?: Date | null;
  won_at?: Date | null;
  lost_at?: Date | null;
  lost_reason?: string | null;
  assigned_to?: string | null;
  campaign_id?: string | null;
  source_mailbox_id?: string | null;
  created_at: Date;
  updated_at: Date;
}
