/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WebhookThrottleDropsRow {
  id: string;
  organization_id: string;
  endpoint_id: string;
  event_type: string;
  reason: 'endpoint_rate' | 'event_type_rate';
  minute: Date;
  dropped: number;
  last_event_id: string;
  created_at: Date;
  updated_at: Date;
}

export interface WebhookThrottleDropsInsert {
  id: string;
  organization_id: string;
  endpoint_id: string;
  event_type: string;
  reason: 'endpoint_rate' | 'event_type_rate';
  minute: Date;
  dropped: number;
  last_event_id: string;
  created_at: Date;
  updated_at: Date;
}
