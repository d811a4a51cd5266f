/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface CampaignStepsRow {
  id: string;
  organization_id: string;
  campaign_id: string;
  position: number;
  name: string;
  kind: 'email' | 'action' | 'wait';
  subject: string;
  body_plain: string;
  body_html: string;
  body_sync: boolean;
  body_code: boolean;
  /** Days between the previous step and this one. */
  wait_after: number;
  thread_reply: boolean;
  conditions: JsonObject;
  action: JsonObject | null;
  app_connection_id: string | null;
  created_at: Date;
  updated_at: Date;
  offer: string;
  angle: string;
  cta: string;
  /** Of a run_automation step; derived from its action. */
  automation_id: string | null;
}

export interface CampaignStepsInsert {
  id: string;
  organization_id: string;
  campaign_id: string;
  position: number;
  name?: string;
  kind?: 'email' | 'action' | 'wait';
  subject?: string;
  body_plain?: string;
  body_html?: string;
  body_sync?: boolean;
  body_code?: boolean;
  wait_after?: number;
  thread_reply?: boolean;
  conditions?: string;
  action?: string | null;
  created_at: Date;
  updated_at: Date;
  offer?: string;
  angle?: string;
  cta?: string;
}
