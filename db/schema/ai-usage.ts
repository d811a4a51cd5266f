/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface AiUsageRow {
  organization_id: string;
  day: string;
  tokens: number;
}

export interface AiUsageInsert {
  organization_id: string;
  day: string;
  tokens: number;
}
