import type { Row } from '../rows.ts';
import { orgEntity } from './model.ts';

export type { SegmentCondition } from '../json-columns.ts';

/** A saved filter of contacts, which can be used as an audience. */
export type SegmentRow = Row<'segments'>;

export const Segments = orgEntity('segments', ['conditions']);
