import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

/** A folder (campaigns), tag (mailboxes) or category (contacts, conversations). */
export type LabelRow = Row<'labels'>;
export type LabelRegistry = LabelRow['registry'];

export const Labels = orgEntity('labels', []);
