/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { GoalDefinition } from '../json-columns.ts';

export interface GoalRevisionsRow {
  organization_id: string;
  goal_id: string;
  revision: number;
  definition: GoalDefinition;
  created_at: Date;
  created_by: string | null;
}

export interface GoalRevisionsInsert {
  organization_id: string;
  goal_id: string;
  revision: number;
  definition: string;
  created_at: Date;
  created_by?: string | null;
}
