/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface PersonIdentifiersRow {
  organization_id: string;
  kind: 'email' | 'user_id' | 'anonymous_id';
  value: string;
  person_id: string;
  first_seen_at: Date;
}

export interface PersonIdentifiersInsert {
  organization_id: string;
  kind: 'email' | 'user_id' | 'anonymous_id';
  value: string;
  person_id: string;
  first_seen_at: Date;
}
