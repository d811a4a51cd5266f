/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface CampaignSendersRow {
  organization_id: string;
  campaign_id: string;
  mailbox_id: string;
  weight: number;
  enabled: boolean;
  last_sent_at: Date | null;
}

export interface CampaignSendersInsert {
  organization_id: string;
  campaign_id: string;
  mailbox_id: string;
  weight?: number;
  enabled?: boolean;
  last_sent_at?: Date | null;
}
