/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { SegmentCondition } from '../json-columns.ts';

export interface SegmentsRow {
  id: string;
  organization_id: string;
  name: string;
  match: 'all' | 'any';
  conditions: SegmentCondition[];
  created_at: Date;
  updated_at: Date;
}

export interface SegmentsInsert {
  id: string;
  organization_id: string;
  name: string;
  match?: 'all' | 'any';
  conditions?: string;
  created_at: Date;
  updated_at: Date;
}
