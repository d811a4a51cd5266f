/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WebhookEndpointsRow {
  id: string;
  organization_id: string;
  /** Set when an application manages it; it is then no part of the workspace's own list. */
  application_id: string | null;
  url: string;
  description: string;
  /** Empty means all events that are not firehose. */
  event_types: string[];
  enabled: boolean;
  disabled_reason: string | null;
  verified_at: Date | null;
  ownership_confirmed: boolean;
  last_success_at: Date | null;
  last_failure_at: Date | null;
  last_failure_reason: string | null;
  consecutive_failures: number;
  failing_since: Date | null;
  created_at: Date;
  updated_at: Date;
  challenging: boolean;
}

export interface WebhookEndpointsInsert {
  id: string;
  organization_id: string;
  application_id?: string | null;
  url: string;
  description?: string;
  event_types?: string[];
  enabled?: boolean;
  disabled_reason?: string | null;
  verified_at?: Date | null;
  ownership_confirmed?: boolean;
  last_success_at?: Date | null;
  last_failure_at?: Date | null;
  last_failure_reason?: string | null;
  consecutive_failures?: number;
  failing_since?: Date | null;
  created_at: Date;
  updated_at: Date;
  challenging?: boolean;
}
