/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface MailboxChecksRow {
  id: string;
  organization_id: string;
  request: Buffer;
  created_at: Date;
  expires_at: Date;
}

export interface MailboxChecksInsert {
  id: string;
  organization_id: string;
  request: Buffer;
  created_at: Date;
  expires_at: Date;
}
