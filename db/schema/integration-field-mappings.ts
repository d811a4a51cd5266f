/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface IntegrationFieldMappingsRow {
  id: string;
  organization_id: string;
  connection_id: string;
  subscription_id: string | null;
  direction: 'push' | 'pull' | 'both';
  object_name: string;
  source_field: string;
  external_field: string;
  transform: 'none' | 'static' | 'uppercase' | 'lowercase' | 'trim';
  static_value: string;
  is_default: boolean;
  position: number;
  created_at: Date;
}

export interface IntegrationFieldMappingsInsert {
  id: string;
  organization_id: string;
  connection_id: string;
  subscription_id?: string | null;
  direction: 'push' | 'pull' | 'both';
  object_name: string;
  source_field: string;
  external_field: string;
  transform: 'none' | 'static' | 'uppercase' | 'lowercase' | 'trim';
  static_value: string;
  is_default?: boolean;
  position: number;
  created_at: Date;
}
