/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface CampaignFlowCountsRow {
  organization_id: string;
  campaign_id: string;
  step_id: string | null;
  state: string | null;
  from_step_id: string | null;
  leads: number;
  is_folded: boolean;
}

export interface CampaignFlowCountsInsert {
  organization_id: string;
  campaign_id: string;
  step_id?: string | null;
  state?: string | null;
  from_step_id?: string | null;
  leads: number;
  is_folded?: boolean;
}
