/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface RateLimitCountsRow {
  key: NotWritten;
  points: number;
  expire: number | null;
}

export interface RateLimitCountsInsert {
  key: NotWritten;
  points?: number;
  expire?: number | null;
}
