/** Written by `npm run db:types` from the migrated schema; do not edit. */

export interface MailboxTagsRow {
  organization_id: string;
  mailbox_id: string;
  label_id: string;
}

export interface MailboxTagsInsert {
  organization_id: string;
  mailbox_id: string;
  label_id: string;
}
