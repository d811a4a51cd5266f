/** Written by `npm run db:types` from the migrated schema; do not edit. */

import type { JsonObject } from '../json-columns.ts';

export interface SendFactsRow {
  send_id: string;
  organization_id: string;
  contact_id: string | null;
  campaign_id: string;
  step_id: string | null;
  variant_id: string | null;
  mailbox_id: string | null;
  sent_at: Date | null;
  bounced_at: Date | null;
  opened_at: Date | null;
  machine_opened_at: Date | null;
  clicked_at: Date | null;
  machine_clicked_at: Date | null;
  replied_at: Date | null;
  positive_at: Date | null;
  complained_at: Date | null;
  unsubscribed_at: Date | null;
  hits: JsonObject;
  offer: string | null;
  angle: string | null;
  cta: string | null;
  copy_hash: string | null;
  audience_source: string | null;
  segment_id: string | null;
  category_ids: string[];
  soft_bounced_at: Date | null;
  negative_at: Date | null;
  question_at: Date | null;
  neutral_at: Date | null;
  visitor: string | null;
}

export interface SendFactsInsert {
  send_id: string;
  organization_id: string;
  contact_id?: string | null;
  campaign_id: string;
  step_id?: string | null;
  variant_id?: string | null;
  mailbox_id?: string | null;
  sent_at?: Date | null;
  bounced_at?: Date | null;
  opened_at?: Date | null;
  machine_opened_at?: Date | null;
  clicked_at?: Date | null;
  machine_clicked_at?: Date | null;
  replied_at?: Date | null;
  positive_at?: Date | null;
  complained_at?: Date | null;
  unsubscribed_at?: Date | null;
  hits?: string;
  offer?: string | null;
  angle?: string | null;
  cta?: string | null;
  copy_hash?: string | null;
  audience_source?: string | null;
  segment_id?: string | null;
  category_ids?: string[];
  soft_bounced_at?: Date | null;
  negative_at?: Date | null;
  question_at?: Date | null;
  neutral_at?: Date | null;
  visitor?: string | null;
}
