/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WeeklyReportMailsRow {
  id: string;
  report_id: string;
  user_id: string;
  organization_id: string;
  state: 'sending' | 'sent' | 'refused' | 'uncertain';
  claimed_at: Date;
  settled_at: Date | null;
}

export interface WeeklyReportMailsInsert {
  id: string;
  report_id: string;
  user_id: string;
  organization_id: string;
  state: 'sending' | 'sent' | 'refused' | 'uncertain';
  claimed_at: Date;
  settled_at?: Date | null;
}
