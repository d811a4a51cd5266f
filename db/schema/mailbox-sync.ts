/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface MailboxSyncRow {
  mailbox_id: string;
  organization_id: string;
  folder: string;
  uid_validity: number | null;
  last_uid: number;
  owner: string | null;
  lease_until: Date | null;
  last_synced_at: Date | null;
  failures: number;
  retry_at: Date | null;
  last_error: string | null;
}

export interface MailboxSyncInsert {
  mailbox_id: string;
  organization_id: string;
  folder?: string;
  uid_validity?: number | null;
  last_uid?: number;
  owner?: string | null;
  lease_until?: Date | null;
  last_synced_at?: Date | null;
  failures?: number;
  retry_at?: Date | null;
  last_error?: string | null;
}
