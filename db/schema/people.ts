/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface PeopleRow {
  id: string;
  organization_id: string;
  contact_id: string | null;
  created_at: Date;
}

export interface PeopleInsert {
  id: string;
  organization_id: string;
  contact_id?: string | null;
  created_at: Date;
}
