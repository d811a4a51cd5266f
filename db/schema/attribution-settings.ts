/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface AttributionSettingsRow {
  organization_id: string;
  window_days: number;
  company_estimates: boolean;
  updated_by: string | null;
  updated_at: Date;
}

export interface AttributionSettingsInsert {
  organization_id: string;
  window_days: number;
  company_estimates: boolean;
  updated_by?: string | null;
  updated_at: Date;
}
