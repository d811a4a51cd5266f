/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ThreadLabelsRow {
  organization_id: string;
  thread_id: string;
  label_id: string;
  created_at: Date;
}

export interface ThreadLabelsInsert {
  organization_id: string;
  thread_id: string;
  label_id: string;
  created_at: Date;
}
