import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** An address or a whole host that must not be mailed. */
export type SuppressionRow = Row<'suppressions'>;
export type SuppressionSource = SuppressionRow['source'];

export const Suppressions = orgEntity('suppressions', ['metadata', 'reason']);
