/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ApprovalNoticesRow {
  approval_id: string;
  organization_id: string;
  state: 'due' | 'done';
  blocked_reason: string | null;
}

export interface ApprovalNoticesInsert {
  approval_id: string;
  organization_id: string;
  state?: 'due' | 'done';
  blocked_reason?: string | null;
}
