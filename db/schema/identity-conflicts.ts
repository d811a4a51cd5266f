/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface IdentityConflictsRow {
  id: string;
  organization_id: string;
  person_id: string;
  other_person_id: string | null;
  kind: 'email' | 'user_id' | 'anonymous_id';
  value: string;
  state: 'open' | 'dismissed' | 'merged';
  created_at: Date;
  resolved_at: Date | null;
  resolved_by: string | null;
  merged_person_id: string | null;
}

export interface IdentityConflictsInsert {
  id: string;
  organization_id: string;
  person_id: string;
  other_person_id?: string | null;
  kind: 'email' | 'user_id' | 'anonymous_id';
  value: string;
  state: 'open' | 'dismissed' | 'merged';
  created_at: Date;
  resolved_at?: Date | null;
  resolved_by?: string | null;
  merged_person_id?: string | null;
}
