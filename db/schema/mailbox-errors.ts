/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface MailboxErrorsRow {
  id: string;
  organization_id: string;
  mailbox_id: string;
  error_code: string;
  severity: 'warning' | 'error';
  title: string;
  message: string;
  created_at: Date;
  resolved_at: Date | null;
}

export interface MailboxErrorsInsert {
  id: string;
  organization_id: string;
  mailbox_id: string;
  error_code: string;
  severity: 'warning' | 'error';
  title: string;
  message: string;
  created_at: Date;
  resolved_at?: Date | null;
}
