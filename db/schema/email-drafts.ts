/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { StoredAttachment } from '../json-columns.ts';

export interface EmailDraftsRow {
  id: string;
  organization_id: string;
  user_id: string | null;
  mailbox_id: string | null;
  thread_id: string | null;
  to_emails: string[];
  cc_emails: string[];
  bcc_emails: string[];
  subject: string;
  body_plain: string;
  body_html: string | null;
  created_at: Date;
  updated_at: Date;
  attachments: StoredAttachment[];
}

export interface EmailDraftsInsert {
  id: string;
  organization_id: string;
  user_id?: string | null;
  mailbox_id?: string | null;
  thread_id?: string | null;
  to_emails: string[];
  cc_emails: string[];
  bcc_emails: string[];
  subject: string;
  body_plain: string;
  body_html?: string | null;
  created_at: Date;
  updated_at: Date;
  attachments?: string;
}
