import { orgEntity, OrgModel } from './model.ts';

/** A receiver of a workspace's events (contract 1, "Webhook endpoint"), or the one an application has in it. */
export class WebhookEndpointRow extends OrgModel {
  static override tableName = 'webhook_endpoints';
  static override jsonAttributes: string[] = [];

  /** Set when an application manages it; it is then no part of the workspace's own list. */
  application_id!: string | null;
  url!: string;
  description!: string;
  /** Empty means all events that are not firehose. */
  event_types!: string[];
  enabled!: boolean;
  disabled_reason!: string | null;
  verified_at!: Date | null;
  ownership_confirmed!: boolean;
  last_success_at!: Date | null;
  last_failure_at!: Date | null;
  last_failure_reason!: string | null;
  consecutive_failures!: number;
  failing_since!: Date | null;
}

export const WebhookEndpoints = orgEntity(WebhookEndpointRow);
