/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface IntegrationRunsRow {
  id: string;
  organization_id: string;
  connection_id: string;
  kind: 'connect' | 'refresh' | 'dispatch' | 'push' | 'health' | 'inbound';
  status: 'success' | 'error';
  detail: string;
  records_processed: number;
  started_at: Date;
  finished_at: Date | null;
}

export interface IntegrationRunsInsert {
  id: string;
  organization_id: string;
  connection_id: string;
  kind: 'connect' | 'refresh' | 'dispatch' | 'push' | 'health' | 'inbound';
  status: 'success' | 'error';
  detail: string;
  records_processed: number;
  started_at: Date;
  finished_at?: Date | null;
}
