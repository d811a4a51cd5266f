import { orgEntity, OrgModel } from './model.ts';

/** One condition of a saved audience; `field` and `operator` come from GET /segments/fields. */
export interface SegmentCondition {
  field: string;
  operator: string;
  values: string[];
}

/** A saved audience. */
export class SegmentRow extends OrgModel {
  static override tableName = 'segments';
  static override jsonAttributes = ['conditions'];

  name!: string;
  match!: 'all' | 'any';
  conditions!: SegmentCondition[];
}

export const Segments = orgEntity(SegmentRow);
