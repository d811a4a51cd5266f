/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface MailboxRevocationsRow {
  mailbox_id: string;
  organization_id: string;
  provider: 'gmail' | 'outlook';
  email: string;
  sealed: Buffer;
  attempts: number;
  due_at: Date;
  created_at: Date;
}

export interface MailboxRevocationsInsert {
  mailbox_id: string;
  organization_id: string;
  provider: 'gmail' | 'outlook';
  email: string;
  sealed: Buffer;
  attempts?: number;
  due_at: Date;
  created_at: Date;
}
