/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface IntegrationPaceRow {
  connection_id: string;
  organization_id: string;
  tokens: number;
  counted_at: Date;
  paused_until: Date | null;
  failures: number;
}

export interface IntegrationPaceInsert {
  connection_id: string;
  organization_id: string;
  tokens: number;
  counted_at: Date;
  paused_until?: Date | null;
  failures?: number;
}
