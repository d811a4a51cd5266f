import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** A receiver of a workspace's events, set up by the workspace or by an application. */
export type WebhookEndpointRow = Row<'webhook_endpoints'>;

export const WebhookEndpoints = orgEntity('webhook_endpoints', []);
