/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface CrmPipelinesRow {
  id: string;
  organization_id: string;
  name: string;
  position: number;
  created_at: Date;
  updated_at: Date;
}

export interface CrmPipelinesInsert {
  id: string;
  organization_id: string;
  name: string;
  position: number;
  created_at: Date;
  updated_at: Date;
}
