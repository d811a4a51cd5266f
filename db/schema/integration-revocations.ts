/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface IntegrationRevocationsRow {
  connection_id: string;
  organization_id: string;
  provider: string;
  /** As it stood in the connection. */
  sealed: Buffer;
  api_base: string | null;
  inbound_external_id: string | null;
  attempts: number;
  due_at: Date;
  created_at: Date;
  external_account_id: string;
}

export interface IntegrationRevocationsInsert {
  connection_id: string;
  organization_id: string;
  provider: string;
  sealed: Buffer;
  api_base?: string | null;
  inbound_external_id?: string | null;
  attempts?: number;
  due_at: Date;
  created_at: Date;
  external_account_id?: string;
}
