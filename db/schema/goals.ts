/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface GoalsRow {
  id: string;
  organization_id: string;
  name: string;
  kind: 'signup' | 'activation' | 'paid' | 'revenue' | 'retention' | 'custom';
  is_primary: boolean;
  revision: number;
  archived_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface GoalsInsert {
  id: string;
  organization_id: string;
  name: string;
  kind: 'signup' | 'activation' | 'paid' | 'revenue' | 'retention' | 'custom';
  is_primary?: boolean;
  revision: number;
  archived_at?: Date | null;
  created_at: Date;
  updated_at: Date;
}
