/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ApprovalMailsRow {
  approval_id: string;
  user_id: string;
  organization_id: string;
  state: 'sending' | 'sent' | 'left_out' | 'refused' | 'uncertain';
  claimed_at: Date;
  settled_at: Date | null;
}

export interface ApprovalMailsInsert {
  approval_id: string;
  user_id: string;
  organization_id: string;
  state: 'sending' | 'sent' | 'left_out' | 'refused' | 'uncertain';
  claimed_at: Date;
  settled_at?: Date | null;
}
