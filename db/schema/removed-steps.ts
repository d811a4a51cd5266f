/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface RemovedStepsRow {
  step_id: string;
  organization_id: string;
  campaign_id: string;
  successor_id: string | null;
  removed_at: Date;
}

export interface RemovedStepsInsert {
  step_id: string;
  organization_id: string;
  campaign_id: string;
  successor_id?: string | null;
  removed_at: Date;
}
