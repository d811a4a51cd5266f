/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { OrderedDomain, OrderedMailbox, PersonName, OrderLine } from '../json-columns.ts';

export interface MailboxQuotesRow {
  id: string;
  organization_id: string;
  order_id: string;
  provider: string;
  count: number;
  domains: OrderedDomain[];
  mailboxes: OrderedMailbox[];
  warmup: boolean;
  /** As they were given. */
  names: PersonName[];
  currency: string;
  /** Of all its mailboxes. */
  mailbox_monthly_cents: number;
  /** Of all its mailboxes; 0 without warmup. */
  warmup_monthly_cents: number;
  /** Registration of its new domains for a year, once. */
  domain_cents: number;
  total_monthly_cents: number;
  total_due_today_cents: number;
  line_items: OrderLine[];
  created_at: Date;
  expires_at: Date;
  consumed_at: Date | null;
}

export interface MailboxQuotesInsert {
  id: string;
  organization_id: string;
  order_id: string;
  provider: string;
  count: number;
  domains: string;
  mailboxes: string;
  warmup: boolean;
  names: string;
  currency: string;
  mailbox_monthly_cents: number;
  warmup_monthly_cents: number;
  domain_cents: number;
  total_monthly_cents: number;
  total_due_today_cents: number;
  line_items: string;
  created_at: Date;
  expires_at: Date;
  consumed_at?: Date | null;
}
