import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** Connection to a customer's own app, which app_action steps call. */
export type AppConnectionRow = Row<'app_connections'>;

export const AppConnections = orgEntity('app_connections', []);
