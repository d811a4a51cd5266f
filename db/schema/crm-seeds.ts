/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface CrmSeedsRow {
  organization_id: string;
  created_at: Date;
}

export interface CrmSeedsInsert {
  organization_id: string;
  created_at: Date;
}
