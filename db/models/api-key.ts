import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** An API key. The secret itself is never stored. */
export type ApiKeyRow = Row<'api_keys'>;

export const ApiKeys = orgEntity('api_keys', ['revoked_reason']);
