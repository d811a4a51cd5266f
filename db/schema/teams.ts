/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface TeamsRow {
  id: string;
  organization_id: string;
  name: string;
  color: string;
  created_at: Date;
  updated_at: Date;
}

export interface TeamsInsert {
  id: string;
  organization_id: string;
  name: string;
  color: string;
  created_at: Date;
  updated_at: Date;
}
