/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { StoredMailService } from '../json-columns.ts';

export interface OrderMailboxesRow {
  order_id: string;
  position: number;
  organization_id: string;
  email: string;
  domain: string;
  first_name: string;
  last_name: string;
  external_status: string | null;
  warmup_external_status: string | null;
  mailbox_id: string | null;
  smtp: StoredMailService | null;
  imap: StoredMailService | null;
  /** Both passwords, sealed under `order_mailboxes/<order>/<position>` until the mailbox is connected; null then. */
  credentials: Buffer | null;
  retired_at: Date | null;
}

export interface OrderMailboxesInsert {
  order_id: string;
  position: number;
  organization_id: string;
  email: string;
  domain: string;
  first_name: string;
  last_name: string;
  external_status?: string | null;
  warmup_external_status?: string | null;
  mailbox_id?: string | null;
  smtp?: string | null;
  imap?: string | null;
  credentials?: Buffer | null;
  retired_at?: Date | null;
}
