/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface RunsRow {
  id: string;
  organization_id: string;
  state:
    | 'queued'
    | 'preflighting'
    | 'awaiting_approval'
    | 'launching'
    | 'active'
    | 'paused'
    | 'completed'
    | 'failed'
    | 'denied'
    | 'cancelled';
  intent: 'draft' | 'launch';
  /** The request without `leads`, who are stored as contacts. */
  input: JsonObject;
  /** The campaign it built or took; it may be deleted. */
  campaign_id: string;
  /** The mailboxes that were chosen when it was created. */
  frozen_sender_ids: string[];
  /** Leads of the campaign that are not finished, when it was last checked. */
  recipient_count: number;
  /** Calls to apps that these leads can lead to. */
  action_count: number;
  policy_decision: JsonObject;
  preflight_report: JsonObject | null;
  error_details: JsonObject | null;
  approval_id: string | null;
  /** Until when the approval waits for a person. */
  expires_at: Date | null;
  actor_kind: 'session' | 'api_key' | 'oauth' | 'system';
  user_id: string | null;
  api_key_id: string | null;
  oauth_grant_id: string | null;
  blocked_reason: string | null;
  /** Number of its events, and the `seq` of the last one. */
  event_count: number;
  created_at: Date;
  updated_at: Date;
  ended_at: Date | null;
}

export interface RunsInsert {
  id: string;
  organization_id: string;
  state:
    | 'queued'
    | 'preflighting'
    | 'awaiting_approval'
    | 'launching'
    | 'active'
    | 'paused'
    | 'completed'
    | 'failed'
    | 'denied'
    | 'cancelled';
  intent: 'draft' | 'launch';
  input: string;
  campaign_id: string;
  frozen_sender_ids: string[];
  recipient_count: number;
  action_count: number;
  policy_decision: string;
  preflight_report?: string | null;
  error_details?: string | null;
  approval_id?: string | null;
  expires_at?: Date | null;
  actor_kind: 'session' | 'api_key' | 'oauth' | 'system';
  user_id?: string | null;
  api_key_id?: string | null;
  oauth_grant_id?: string | null;
  blocked_reason?: string | null;
  event_count?: number;
  created_at: Date;
  updated_at: Date;
  ended_at?: Date | null;
}
