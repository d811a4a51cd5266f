/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface IdempotencyKeysRow {
  organization_id: string;
  actor_id: string;
  key: string;
  operation: string;
  request_hash: string;
  status: number | null;
  headers: Record<string, string> | null;
  body: Buffer | null;
  created_at: Date;
  expires_at: Date;
}

export interface IdempotencyKeysInsert {
  organization_id: string;
  actor_id: string;
  key: string;
  operation: string;
  request_hash: string;
  status?: number | null;
  headers?: string | null;
  body?: Buffer | null;
  created_at: Date;
  expires_at: Date;
}
