/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ContactsRow {
  id: string;
  organization_id: string;
  /** Lower-case. */
  email: string;
  first_name: string;
  last_name: string;
  company: string;
  phone: string;
  custom_fields: Record<string, string>;
  subscribed: boolean;
  source: string;
  source_detail: string;
  verification_status: 'valid' | 'risky' | 'invalid' | 'unknown';
  verification_reason: string;
  is_catch_all: boolean;
  verification_checked_at: Date | null;
  esp_provider: string;
  esp_resolved_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface ContactsInsert {
  id: string;
  organization_id: string;
  email: string;
  first_name?: string;
  last_name?: string;
  company?: string;
  phone?: string;
  custom_fields?: string;
  subscribed?: boolean;
  source?: string;
  source_detail?: string;
  verification_status?: 'valid' | 'risky' | 'invalid' | 'unknown';
  verification_reason?: string;
  is_catch_all?: boolean;
  verification_checked_at?: Date | null;
  esp_provider?: string;
  esp_resolved_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}
