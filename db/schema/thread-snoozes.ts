/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface ThreadSnoozesRow {
  id: string;
  organization_id: string;
  owner_id: string;
  thread_id: string;
  snoozed_until: Date;
  created_at: Date;
  updated_at: Date;
}

export interface ThreadSnoozesInsert {
  id: string;
  organization_id: string;
  owner_id: string;
  thread_id: string;
  snoozed_until: Date;
  created_at: Date;
  updated_at: Date;
}
