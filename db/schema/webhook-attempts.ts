/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WebhookAttemptsRow {
  delivery_id: string;
  attempt: number;
  organization_id: string;
  started_at: Date;
  duration_ms: number;
  response_status: number | null;
  error_reason: string | null;
}

export interface WebhookAttemptsInsert {
  delivery_id: string;
  attempt: number;
  organization_id: string;
  started_at: Date;
  duration_ms: number;
  response_status?: number | null;
  error_reason?: string | null;
}
