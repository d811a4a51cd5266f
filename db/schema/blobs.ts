/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface BlobsRow {
  id: string;
  organization_id: string;
  size: number;
  created_at: Date;
  /** Who has the bytes: blob_chunks, or a store outside under store_key. */
  store: 'postgres' | 'disk' | 's3';
  store_key: string | null;
  /** Where a worker is copying them to. */
  moving_to: 'postgres' | 'disk' | 's3' | null;
  moving_key: string | null;
  moving_since: Date | null;
}

export interface BlobsInsert {
  id: string;
  organization_id: string;
  size: number;
  created_at: Date;
  store?: 'postgres' | 'disk' | 's3';
  store_key?: string | null;
  moving_to?: 'postgres' | 'disk' | 's3' | null;
  moving_key?: string | null;
  moving_since?: Date | null;
}
