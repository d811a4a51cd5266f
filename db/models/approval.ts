import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** An action of an API key or application that needs a person's approval, before or after the decision. */
export type ApprovalRow = Row<'approvals'>;

export const Approvals = orgEntity('approvals', ['payload', 'preflight', 'reasons']);
