/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface VisitFactsRow {
  organization_id: string;
  visitor: string;
  part: 'countries' | 'clients' | 'devices';
  key: string;
  campaign_id: string;
  first_at: Date;
}

export interface VisitFactsInsert {
  organization_id: string;
  visitor: string;
  part: 'countries' | 'clients' | 'devices';
  key: string;
  campaign_id: string;
  first_at: Date;
}
