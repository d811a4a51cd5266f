/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { SendAsAddress } from '../json-columns.ts';

export interface MailboxTokensRow {
  mailbox_id: string;
  organization_id: string;
  /** Both tokens, sealed under `mailbox_tokens/<mailbox>`. */
  sealed: Buffer;
  access_expires_at: Date;
  refreshed_at: Date;
  lease_token: string | null;
  lease_until: Date | null;
  failures: number;
  retry_at: Date | null;
  send_as: SendAsAddress[];
  send_as_synced_at: Date | null;
}

export interface MailboxTokensInsert {
  mailbox_id: string;
  organization_id: string;
  sealed: Buffer;
  access_expires_at: Date;
  refreshed_at: Date;
  lease_token?: string | null;
  lease_until?: Date | null;
  failures?: number;
  retry_at?: Date | null;
  send_as?: string;
  send_as_synced_at?: Date | null;
}
