/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface DeliverabilityEventsRow {
  id: string;
  organization_id: string;
  event_type: 'bounce' | 'complaint' | 'unsubscribe' | 'open' | 'click' | 'reply';
  recipient_email: string;
  campaign_id: string | null;
  send_id: string | null;
  contact_id: string | null;
  provider: string;
  reason: string;
  idempotency_key: string | null;
  metadata: JsonObject;
  created_at: Date;
}

export interface DeliverabilityEventsInsert {
  id: string;
  organization_id: string;
  event_type: 'bounce' | 'complaint' | 'unsubscribe' | 'open' | 'click' | 'reply';
  recipient_email: string;
  campaign_id?: string | null;
  send_id?: string | null;
  contact_id?: string | null;
  provider?: string;
  reason?: string;
  idempotency_key?: string | null;
  metadata?: string;
  created_at: Date;
}
