/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface StaleGroupsRow {
  organization_id: string;
}

export interface StaleGroupsInsert {
  organization_id: string;
}
