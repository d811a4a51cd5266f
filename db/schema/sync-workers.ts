/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface SyncWorkersRow {
  id: string;
  alive_until: Date;
}

export interface SyncWorkersInsert {
  id: string;
  alive_until: Date;
}
