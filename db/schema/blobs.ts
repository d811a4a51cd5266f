/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface BlobsRow {
  id: string;
  organization_id: string;
  size: number;
  created_at: Date;
}

export interface BlobsInsert {
  id: string;
  organization_id: string;
  size: number;
  created_at: Date;
}
