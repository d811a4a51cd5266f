/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WebhookBatchesRow {
  id: string;
  opened_at: Date;
}

export interface WebhookBatchesInsert {
  id: string;
  opened_at: Date;
}
