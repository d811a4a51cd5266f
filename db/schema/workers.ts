/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WorkersRow {
  id: string;
  roles: string[];
  started_at: Date;
  seen_at: Date;
  blob_place: string | null;
  codec_keys: string[];
}

export interface WorkersInsert {
  id: string;
  roles: string[];
  started_at?: Date;
  seen_at?: Date;
  blob_place?: string | null;
  codec_keys?: string[];
}
