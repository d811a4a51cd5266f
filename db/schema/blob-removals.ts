/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface BlobRemovalsRow {
  id: number;
  store: 'disk' | 's3';
  store_key: string;
  attempts: number;
  due_at: Date;
  last_error: string | null;
  created_at: Date;
}

export interface BlobRemovalsInsert {
  store: 'disk' | 's3';
  store_key: string;
  attempts?: number;
  due_at?: Date;
  last_error?: string | null;
  created_at?: Date;
}
