/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface WarmupMailsRow {
  id: string;
  organization_id: string;
  mailbox_id: string;
  partner_id: string;
  answers: string | null;
  state: 'reserved' | 'sending' | 'sent' | 'uncertain' | 'failed';
  slot_at: Date;
  /** UTC day of slot_at, whose cap it counts against. */
  slot_day: string;
  attempts: number;
  claim_token: string | null;
  claimed_at: Date | null;
  handover: 'pending' | 'begun' | null;
  message_id: string | null;
  subject: string;
  sent_at: Date | null;
  error: string | null;
  landed: 'inbox' | 'spam' | 'bounced' | null;
  landed_at: Date | null;
  created_at: Date;
}

export interface WarmupMailsInsert {
  id: string;
  organization_id: string;
  mailbox_id: string;
  partner_id: string;
  answers?: string | null;
  state?: 'reserved' | 'sending' | 'sent' | 'uncertain' | 'failed';
  slot_at: Date;
  slot_day: string;
  attempts?: number;
  claim_token?: string | null;
  claimed_at?: Date | null;
  handover?: 'pending' | 'begun' | null;
  message_id?: string | null;
  subject?: string;
  sent_at?: Date | null;
  error?: string | null;
  landed?: 'inbox' | 'spam' | 'bounced' | null;
  landed_at?: Date | null;
  created_at: Date;
}
