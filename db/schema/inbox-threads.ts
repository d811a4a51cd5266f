/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface InboxThreadsRow {
  organization_id: string;
  thread_id: string;
  mailbox_id: string;
  newest_id: string;
  newest_at: Date;
  seen: boolean;
  filed: string;
  kind: string;
  message_count: number;
  unseen_count: number;
  is_answered: boolean;
}

export interface InboxThreadsInsert {
  organization_id: string;
  thread_id: string;
  mailbox_id: string;
  newest_id: string;
  newest_at: Date;
  seen: boolean;
  filed: string;
  kind: string;
  message_count: number;
  unseen_count: number;
  is_answered?: boolean;
}
