/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface CrmTaskTypesRow {
  id: string;
  organization_id: string;
  name: string;
  color: string;
  position: number;
  created_at: Date;
  updated_at: Date;
}

export interface CrmTaskTypesInsert {
  id: string;
  organization_id: string;
  name: string;
  color: string;
  position: number;
  created_at: Date;
  updated_at: Date;
}
