/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface CampaignSpendRow {
  organization_id: string;
  campaign_id: string;
  amount_minor: number;
  currency: string;
  updated_by: string | null;
  updated_at: Date;
}

export interface CampaignSpendInsert {
  organization_id: string;
  campaign_id: string;
  amount_minor: number;
  currency: string;
  updated_by?: string | null;
  updated_at: Date;
}
