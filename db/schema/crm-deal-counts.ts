/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface CrmDealCountsRow {
  organization_id: string;
  pipeline_id: string;
  stage_id: string;
  status: string;
  currency: string;
  assigned_to: string | null;
  campaign_id: string | null;
  deals: number;
  value_minor: number;
  is_folded: boolean;
}

export interface CrmDealCountsInsert {
  organization_id: string;
  pipeline_id: string;
  stage_id: string;
  status: string;
  currency: string;
  assigned_to?: string | null;
  campaign_id?: string | null;
  deals: number;
  value_minor: number;
  is_folded?: boolean;
}
