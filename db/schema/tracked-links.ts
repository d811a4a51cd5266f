/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface TrackedLinksRow {
  id: string;
  organization_id: string;
  send_id: string;
  campaign_id: string | null;
  step_id: string | null;
  contact_id: string | null;
  url: string;
  label: string;
  position: number;
  created_at: Date;
}

export interface TrackedLinksInsert {
  id: string;
  organization_id: string;
  send_id: string;
  campaign_id?: string | null;
  step_id?: string | null;
  contact_id?: string | null;
  url: string;
  label?: string;
  position: number;
  created_at: Date;
}
