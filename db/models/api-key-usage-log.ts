import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** One request made with an API key. */
export type ApiKeyUsageLogRow = Row<'api_key_usage_logs'>;

export const ApiKeyUsageLogs = orgEntity('api_key_usage_logs', []);
