/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ReactionSubscribersRow {
  name: string;
  types: string[];
  position: number;
  seen_at: Date;
  created_at: Date;
  build: number;
}

export interface ReactionSubscribersInsert {
  name: string;
  types: string[];
  position: number;
  seen_at: Date;
  created_at: Date;
  build?: number;
}
