/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface SendGroupsRow {
  send_id: string;
  organization_id: string;
  sent_at: Date;
  next_days: string[];
}

export interface SendGroupsInsert {
  send_id: string;
  organization_id: string;
  sent_at: Date;
  next_days: string[];
}
