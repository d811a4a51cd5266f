/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface AttributionCorrectionsRow {
  id: string;
  organization_id: string;
  person_id: string;
  action: 'set' | 'restored';
  send_id: string | null;
  reason: string;
  is_current: boolean;
  corrected_by: string | null;
  created_at: Date;
}

export interface AttributionCorrectionsInsert {
  id: string;
  organization_id: string;
  person_id: string;
  action: 'set' | 'restored';
  send_id?: string | null;
  reason: string;
  is_current: boolean;
  corrected_by?: string | null;
  created_at: Date;
}
