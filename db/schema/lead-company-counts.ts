/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface LeadCompanyCountsRow {
  organization_id: string;
  company_domain: string;
  people: number;
  contacted: number;
  enrolled: number;
  replied: number;
  positive: number;
  meetings: number;
  bounced: number;
  unsubscribed: number;
  fresh: number;
  reachable: number;
  last_contacted_at: Date | null;
  is_stale: boolean;
  is_folded: boolean;
}

export interface LeadCompanyCountsInsert {
  organization_id: string;
  company_domain: string;
  people: number;
  contacted: number;
  enrolled: number;
  replied: number;
  positive: number;
  meetings: number;
  bounced: number;
  unsubscribed: number;
  fresh: number;
  reachable: number;
  last_contacted_at?: Date | null;
  is_stale?: boolean;
  is_folded?: boolean;
}
