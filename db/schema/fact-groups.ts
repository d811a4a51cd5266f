/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface FactGroupsRow {
  organization_id: string;
  dimension: string;
  key: string | null;
  day: string;
  next_day: string;
  sends: number;
  is_folded: boolean;
}

export interface FactGroupsInsert {
  organization_id: string;
  dimension: string;
  key?: string | null;
  day: string;
  next_day: string;
  sends: number;
  is_folded?: boolean;
}
