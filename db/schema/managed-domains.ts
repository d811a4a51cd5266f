/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ManagedDomainsRow {
  id: string;
  organization_id: string;
  domain: string;
  order_id: string;
  provider_ref: string;
  state: 'active' | 'released' | 'lapsed';
  registered_at: Date;
  expires_at: Date;
  released_at: Date | null;
}

export interface ManagedDomainsInsert {
  id: string;
  organization_id: string;
  domain: string;
  order_id: string;
  provider_ref: string;
  state: 'active' | 'released' | 'lapsed';
  registered_at: Date;
  expires_at: Date;
  released_at?: Date | null;
}
