/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface AcquisitionFactsRow {
  organization_id: string;
  person_id: string;
  goal_id: string;
  contact_id: string | null;
  conversion_id: string;
  event_id: string;
  acquired_at: Date;
  match_method: 'contact' | 'email' | 'linked_identity' | 'website_visitor' | 'unknown' | 'none';
  send_id: string | null;
  sent_at: Date | null;
  company_domain: string | null;
  colleague_send_id: string | null;
  colleague_sent_at: Date | null;
  colleague_id: string | null;
}

export interface AcquisitionFactsInsert {
  organization_id: string;
  person_id: string;
  goal_id: string;
  contact_id?: string | null;
  conversion_id: string;
  event_id: string;
  acquired_at: Date;
  match_method: 'contact' | 'email' | 'linked_identity' | 'website_visitor' | 'unknown' | 'none';
  send_id?: string | null;
  sent_at?: Date | null;
  company_domain?: string | null;
  colleague_send_id?: string | null;
  colleague_sent_at?: Date | null;
  colleague_id?: string | null;
}
