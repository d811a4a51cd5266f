/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface RolesRow {
  id: string;
  organization_id: string;
  name: string;
  /** Names of lib/permissions.ts ORG_PERMISSIONS. */
  permissions: string[];
  is_owner: boolean;
  is_system: boolean;
  created_at: Date;
  updated_at: Date;
}

export interface RolesInsert {
  id: string;
  organization_id: string;
  name: string;
  permissions: string[];
  is_owner?: boolean;
  is_system?: boolean;
  created_at: Date;
  updated_at: Date;
}
