/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface IntegrationLanesRow {
  connection_id: string;
  lane_id: string;
  organization_id: string;
  due_at: Date;
  lease: string | null;
}

export interface IntegrationLanesInsert {
  connection_id: string;
  lane_id: string;
  organization_id: string;
  due_at: Date;
  lease?: string | null;
}
