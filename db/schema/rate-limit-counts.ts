/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface RateLimitCountsRow {
  key: string;
  points: number;
  expire: number | null;
}

export interface RateLimitCountsInsert {
  key: string;
  points?: number;
  expire?: number | null;
}
