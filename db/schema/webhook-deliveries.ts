/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WebhookDeliveriesRow {
  id: string;
  organization_id: string;
  endpoint_id: string;
  application_id: string | null;
  event_id: string;
  event_type: string;
  batch_id: string | null;
  status: 'pending' | 'in_flight' | 'delivered' | 'failed' | 'abandoned';
  attempt_count: number;
  max_attempts: number;
  earlier_attempts: number;
  next_attempt_at: Date | null;
  last_attempt_at: Date | null;
  response_status: number | null;
  response_body_excerpt: string | null;
  error_reason: string | null;
  secret_id: string | null;
  created_at: Date;
  updated_at: Date;
  blocked_reason: string | null;
}

export interface WebhookDeliveriesInsert {
  id: string;
  organization_id: string;
  endpoint_id: string;
  application_id?: string | null;
  event_id: string;
  event_type: string;
  batch_id?: string | null;
  status: 'pending' | 'in_flight' | 'delivered' | 'failed' | 'abandoned';
  attempt_count?: number;
  max_attempts?: number;
  earlier_attempts?: number;
  next_attempt_at?: Date | null;
  last_attempt_at?: Date | null;
  response_status?: number | null;
  response_body_excerpt?: string | null;
  error_reason?: string | null;
  secret_id?: string | null;
  created_at: Date;
  updated_at: Date;
  blocked_reason?: string | null;
}
