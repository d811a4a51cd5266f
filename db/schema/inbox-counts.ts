/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface InboxCountsRow {
  organization_id: string;
  mailbox_id: string;
  filed: string;
  label_id: string | null;
  conversations: number;
  unread: number;
  answered: number;
}

export interface InboxCountsInsert {
  organization_id: string;
  mailbox_id: string;
  filed: string;
  label_id?: string | null;
  conversations: number;
  unread: number;
  answered: number;
}
