/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface InboundMessagesRow {
  id: string;
  organization_id: string;
  mailbox_id: string;
  folder: string;
  uid_validity: number;
  uid: number;
  message_id: string | null;
  thread_id: string;
  in_reply_to: string | null;
  reference_ids: string[];
  from_email: string;
  from_name: string;
  to_emails: string[];
  subject: string;
  body_plain: string;
  kind: 'reply' | 'bounce' | 'complaint' | 'out_of_office' | 'automated' | 'other';
  intent: string | null;
  intent_confidence: number | null;
  send_id: string | null;
  campaign_id: string | null;
  contact_id: string | null;
  size: number;
  seen: boolean;
  error: string | null;
  received_at: Date;
  created_at: Date;
  retry_at: Date | null;
  tries: number;
  words: string | null;
  filed: 'inbox' | 'archive' | 'spam' | 'trash';
  is_indexed: boolean;
}

export interface InboundMessagesInsert {
  id: string;
  organization_id: string;
  mailbox_id: string;
  folder: string;
  uid_validity: number;
  uid: number;
  message_id?: string | null;
  thread_id: string;
  in_reply_to?: string | null;
  reference_ids?: string[];
  from_email?: string;
  from_name?: string;
  to_emails?: string[];
  subject?: string;
  body_plain?: string;
  kind: 'reply' | 'bounce' | 'complaint' | 'out_of_office' | 'automated' | 'other';
  intent?: string | null;
  intent_confidence?: number | null;
  send_id?: string | null;
  campaign_id?: string | null;
  contact_id?: string | null;
  size?: number;
  seen?: boolean;
  error?: string | null;
  received_at: Date;
  created_at: Date;
  retry_at?: Date | null;
  tries?: number;
  words?: string | null;
  filed?: 'inbox' | 'archive' | 'spam' | 'trash';
  is_indexed?: boolean;
}
