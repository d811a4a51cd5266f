/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { StoredAttachment } from '../json-columns.ts';

export interface DirectSendsRow {
  id: string;
  organization_id: string;
  kind: 'compose' | 'reply';
  state:
    | 'draft'
    | 'awaiting_approval'
    | 'queued'
    | 'sent'
    | 'uncertain'
    | 'bounced'
    | 'failed'
    | 'cancelled'
    | 'denied'
    | 'expired';
  mailbox_id: string | null;
  to_emails: string[];
  cc_emails: string[];
  bcc_emails: string[];
  subject: string;
  body_plain: string;
  body_html: string | null;
  attachments: StoredAttachment[];
  message_id: string;
  thread_id: string;
  in_reply_to: string | null;
  reference_ids: string[];
  about_send_id: string | null;
  contact_id: string | null;
  send_mode: 'instant' | 'smart' | 'scheduled';
  scheduled_at: Date;
  user_id: string | null;
  api_key_id: string | null;
  oauth_grant_id: string | null;
  approval_id: string | null;
  left_out: string[];
  attempts: number;
  held_at: Date | null;
  waiting_for: string | null;
  waiting_until: Date | null;
  blocked_reason: string | null;
  error_code: string | null;
  error_detail: string | null;
  finished_at: Date | null;
  created_at: Date;
  updated_at: Date;
  files_deleted_at: Date | null;
}

export interface DirectSendsInsert {
  id: string;
  organization_id: string;
  kind: 'compose' | 'reply';
  state:
    | 'draft'
    | 'awaiting_approval'
    | 'queued'
    | 'sent'
    | 'uncertain'
    | 'bounced'
    | 'failed'
    | 'cancelled'
    | 'denied'
    | 'expired';
  mailbox_id?: string | null;
  to_emails: string[];
  cc_emails?: string[];
  bcc_emails?: string[];
  subject: string;
  body_plain: string;
  body_html?: string | null;
  attachments?: string;
  message_id: string;
  thread_id: string;
  in_reply_to?: string | null;
  reference_ids?: string[];
  about_send_id?: string | null;
  contact_id?: string | null;
  send_mode: 'instant' | 'smart' | 'scheduled';
  scheduled_at: Date;
  user_id?: string | null;
  api_key_id?: string | null;
  oauth_grant_id?: string | null;
  approval_id?: string | null;
  left_out?: string[];
  attempts?: number;
  held_at?: Date | null;
  waiting_for?: string | null;
  waiting_until?: Date | null;
  blocked_reason?: string | null;
  error_code?: string | null;
  error_detail?: string | null;
  finished_at?: Date | null;
  created_at: Date;
  updated_at: Date;
  files_deleted_at?: Date | null;
}
