import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** A receiver of a workspace's events, or the one an application has in it. */
export type WebhookEndpointRow = Row<'webhook_endpoints'>;

export const WebhookEndpoints = orgEntity('webhook_endpoints', []);
