/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WorkersRow {
  id: string;
  roles: string[];
  started_at: Date;
  seen_at: Date;
}

export interface WorkersInsert {
  id: string;
  roles: string[];
  started_at?: Date;
  seen_at?: Date;
}
