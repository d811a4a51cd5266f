/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WeeklyReportOptOutsRow {
  organization_id: string;
  user_id: string;
  created_at: Date;
}

export interface WeeklyReportOptOutsInsert {
  organization_id: string;
  user_id: string;
  created_at: Date;
}
