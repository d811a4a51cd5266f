/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface DailyCountersRow {
  organization_id: string;
  scope: 'campaign' | 'campaign_new' | 'mailbox' | 'org_campaigns';
  scope_id: string;
  day: string;
  count: number;
}

export interface DailyCountersInsert {
  organization_id: string;
  scope: 'campaign' | 'campaign_new' | 'mailbox' | 'org_campaigns';
  scope_id: string;
  day: string;
  count?: number;
}
