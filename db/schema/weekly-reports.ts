/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WeeklyReportsRow {
  id: string;
  organization_id: string;
  week: string;
  from_at: Date;
  to_at: Date;
  state: 'due' | 'done';
  blocked_reason: string | null;
  created_at: Date;
}

export interface WeeklyReportsInsert {
  id: string;
  organization_id: string;
  week: string;
  from_at: Date;
  to_at: Date;
  state?: 'due' | 'done';
  blocked_reason?: string | null;
  created_at: Date;
}
