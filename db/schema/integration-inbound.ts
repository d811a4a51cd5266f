/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface IntegrationInboundRow {
  connection_id: string;
  digest: string;
  organization_id: string;
  received_at: Date;
}

export interface IntegrationInboundInsert {
  connection_id: string;
  digest: string;
  organization_id: string;
  received_at: Date;
}
