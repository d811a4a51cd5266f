/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WaitsRow {
  id: string;
  organization_id: string;
  enrollment_id: string;
  step_run_id: string;
  campaign_id: string;
  contact_id: string;
  step_id: string;
  event_name: string;
  state: 'open' | 'resumed' | 'timed_out' | 'cancelled';
  opened_at: Date;
  deadline: Date | null;
  event_id: string | null;
  settled_at: Date | null;
}

export interface WaitsInsert {
  id: string;
  organization_id: string;
  enrollment_id: string;
  step_run_id: string;
  campaign_id: string;
  contact_id: string;
  step_id: string;
  event_name: string;
  state?: 'open' | 'resumed' | 'timed_out' | 'cancelled';
  opened_at: Date;
  deadline?: Date | null;
  event_id?: string | null;
  settled_at?: Date | null;
}
