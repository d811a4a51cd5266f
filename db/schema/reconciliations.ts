/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ReconciliationsRow {
  family: string;
  position: string | null;
  began_at: Date;
  checked: number;
  missing: number;
  ended_at: Date | null;
  last_checked: number | null;
  last_missing: number | null;
}

export interface ReconciliationsInsert {
  family: string;
  position?: string | null;
  began_at: Date;
  checked?: number;
  missing?: number;
  ended_at?: Date | null;
  last_checked?: number | null;
  last_missing?: number | null;
}
