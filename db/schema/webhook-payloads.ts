/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WebhookPayloadsRow {
  event_id: string;
  organization_id: string;
  event_type: string;
  body: string;
  created_at: Date;
}

export interface WebhookPayloadsInsert {
  event_id: string;
  organization_id: string;
  event_type: string;
  body: string;
  created_at: Date;
}
