import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** The customer's own app, called by app_action steps. */
export type AppConnectionRow = Row<'app_connections'>;

export const AppConnections = orgEntity('app_connections', []);
