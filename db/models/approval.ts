import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** An action of an API key or application that waits, or waited, for a person's approval. */
export type ApprovalRow = Row<'approvals'>;

export const Approvals = orgEntity('approvals', ['payload', 'preflight', 'reasons']);
