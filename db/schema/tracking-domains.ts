/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface TrackingDomainsRow {
  domain: string;
  organization_id: string;
  created_at: Date;
}

export interface TrackingDomainsInsert {
  domain: string;
  organization_id: string;
  created_at: Date;
}
