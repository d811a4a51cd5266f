/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface EngagementEventsRow {
  id: string;
  organization_id: string;
  type: 'open' | 'click' | 'unsubscribe' | 'reply' | 'bounce' | 'complaint';
  send_id: string | null;
  campaign_id: string | null;
  step_id: string | null;
  contact_id: string | null;
  mailbox_id: string | null;
  link_id: string | null;
  machine: boolean;
  machine_reason: string | null;
  source: string | null;
  user_agent: string;
  client: string | null;
  device_type: string | null;
  country_code: string | null;
  detail: JsonObject;
  announce_at: Date | null;
  at: Date;
}

export interface EngagementEventsInsert {
  id: string;
  organization_id: string;
  type: 'open' | 'click' | 'unsubscribe' | 'reply' | 'bounce' | 'complaint';
  send_id?: string | null;
  campaign_id?: string | null;
  step_id?: string | null;
  contact_id?: string | null;
  mailbox_id?: string | null;
  link_id?: string | null;
  machine?: boolean;
  machine_reason?: string | null;
  source?: string | null;
  user_agent?: string;
  client?: string | null;
  device_type?: string | null;
  country_code?: string | null;
  detail?: string;
  announce_at?: Date | null;
  at: Date;
}
