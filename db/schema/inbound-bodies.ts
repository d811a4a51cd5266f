/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface InboundBodiesRow {
  message_id: string;
  organization_id: string;
  html: string;
}

export interface InboundBodiesInsert {
  message_id: string;
  organization_id: string;
  html: string;
}
