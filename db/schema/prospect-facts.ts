/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ProspectFactsRow {
  organization_id: string;
  contact_id: string;
  campaign_id: string;
  sends: number;
  first_sent_at: Date;
  last_sent_at: Date;
  replied_at: Date | null;
  positive_at: Date | null;
  activity_at: Date;
  goal_ids: string[];
  opened_at: Date | null;
  clicked_at: Date | null;
  bounced_at: Date | null;
  complained_at: Date | null;
  unsubscribed_at: Date | null;
}

export interface ProspectFactsInsert {
  organization_id: string;
  contact_id: string;
  campaign_id: string;
  sends: number;
  first_sent_at: Date;
  last_sent_at: Date;
  replied_at?: Date | null;
  positive_at?: Date | null;
  activity_at: Date;
  goal_ids?: string[];
  opened_at?: Date | null;
  clicked_at?: Date | null;
  bounced_at?: Date | null;
  complained_at?: Date | null;
  unsubscribed_at?: Date | null;
}
