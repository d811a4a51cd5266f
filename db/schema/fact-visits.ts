/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface FactVisitsRow {
  organization_id: string;
  campaign_id: string;
  part: string;
  key: string;
  visitors: number;
}

export interface FactVisitsInsert {
  organization_id: string;
  campaign_id: string;
  part: string;
  key: string;
  visitors: number;
}
