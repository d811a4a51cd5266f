/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface MembershipsRow {
  organization_id: string;
  user_id: string;
  role_id: string;
  created_at: Date;
}

export interface MembershipsInsert {
  organization_id: string;
  user_id: string;
  role_id: string;
  created_at: Date;
}
