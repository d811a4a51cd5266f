/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface BlobChunksRow {
  blob_id: string;
  seq: number;
  bytes: Buffer;
}

export interface BlobChunksInsert {
  blob_id: string;
  seq: number;
  bytes: Buffer;
}
