/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ContactVerificationsRow {
  contact_id: string;
  organization_id: string;
  attempts: number;
  due_at: Date;
  created_at: Date;
}

export interface ContactVerificationsInsert {
  contact_id: string;
  organization_id: string;
  attempts?: number;
  due_at: Date;
  created_at: Date;
}
