/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WebhookSecretsRow {
  id: string;
  endpoint_id: string | null;
  application_id: string | null;
  sealed: Buffer;
  created_at: Date;
}

export interface WebhookSecretsInsert {
  id: string;
  endpoint_id?: string | null;
  application_id?: string | null;
  sealed: Buffer;
  created_at: Date;
}
